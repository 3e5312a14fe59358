"""What every covariance family promises, checked against the matrix S written out."""

import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from gfsvi.covariances import Diagonal, Full, Kronecker, LastLayer, LowRank, Subspace
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.networks import CNN, MLP
from gfsvi.networks.jacobian import ExplicitJacobian, as_matrix

KEY = jax.random.key(0)
FAMILIES = {
    "diagonal": Diagonal(initial_std=0.3),
    "kronecker": Kronecker(initial_std=0.3),
    "low_rank": LowRank(rank=2, initial_std=0.3),
    "subspace": Subspace(rank=3, initial_std=0.3),
    "last_layer": LastLayer(initial_std=0.3),
    "last_two_layers": LastLayer(num_leaves=2, initial_std=0.3),
    "full": Full(initial_std=0.3),
}
NETWORKS = {
    "mlp": (MLP(hidden=(3,), outputs=2), np.sin(np.arange(10.0)).reshape(5, 2)),
    "cnn": (
        CNN(channels=(2, 2), hidden=2, outputs=2, activation=jax.nn.silu),
        np.sin(np.arange(48.0)).reshape(3, 4, 4, 1),
    ),
}


class Case:
    """A family on a network, its state moved away from where everything is independent."""

    def __init__(self, family, network, x):
        self.family, self.network, self.x = family, network, x
        self.params, self.state = jax.jit(self._start)()

    def _start(self):
        params = self.network.init(self.x, key=KEY, dtype=jnp.float64)
        state = self.family.init(params, key=KEY)
        return params, jax.tree.map(lambda leaf: leaf + 0.2 * _waves(leaf), state)

    def function(self, state=None):
        state = self.state if state is None else state
        return LinearizedNetwork(self.network, self.family, self.params, state)

    def jacobian(self, x):
        return _jacobian(self.network, self.params, x)

    def explicit(self, x):
        return _explicit_jacobian(self.network, self.params, x)

    @functools.cached_property
    def matrix(self):
        """S, by feeding the identity through the family as if every weight were an output."""
        leaves = [as_matrix(leaf) for leaf in jax.tree.leaves(self.params)]
        num_weights, start, parts = sum(leaf.size for leaf in leaves), 0, []
        for leaf in leaves:
            block = jnp.eye(num_weights)[:, start : start + leaf.size]
            parts.append(ExplicitJacobian(block.reshape(num_weights, 1, *leaf.shape)))
            start += leaf.size
        jacobian = tuple(parts)
        return jax.jit(lambda state: self.family.gram(state, jacobian, jacobian)[0])(self.state)


@eqx.filter_jit
def _jacobian(network, params, x):
    return network.jacobian(params, x, jnp.eye(2))


@eqx.filter_jit
def _explicit_jacobian(network, params, x):
    """J with axes (point, output, weight)."""
    flat, restore = ravel_pytree(params)
    return jax.jacobian(lambda p: network.apply(restore(p), x))(flat)


def _waves(leaf):
    return jnp.cos(1.7 * jnp.arange(1.0 * leaf.size)).reshape(leaf.shape)


CASES = [(family, network) for family in FAMILIES for network in NETWORKS]
# The last layer of either network is dense: the convolutions before it change nothing.
CASES = [(family, network) for family, network in CASES if "last" not in family or network == "mlp"]


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request):
    family, network = request.param
    return Case(FAMILIES[family], *NETWORKS[network])


def test_the_covariance_is_symmetric_and_positive_semidefinite(case):
    matrix = case.matrix
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-14)
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert eigenvalues[0] > -1e-12 * eigenvalues[-1]
    assert eigenvalues[-1] > 1e-3


def test_the_variance_is_the_covariance_between_outputs_at_a_point(case):
    jacobian = np.asarray(case.explicit(case.x))
    expected = np.einsum("pkw,wv,plv->pkl", jacobian, case.matrix, jacobian)
    found = jax.jit(case.family.variance)(case.state, case.jacobian(case.x))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_the_gram_matrix_is_the_covariance_between_points(case):
    z = case.x[::-1] + 0.3
    mine, others = (np.asarray(case.explicit(points)) for points in (case.x, z))
    expected = np.einsum("pkw,wv,qkv->kpq", mine, case.matrix, others)
    found = jax.jit(case.family.gram)(case.state, case.jacobian(case.x), case.jacobian(z))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_the_gram_matrix_of_points_with_themselves_takes_the_same_value(case):
    mine = np.asarray(case.explicit(case.x))
    expected = np.einsum("pkw,wv,qkv->kpq", mine, case.matrix, mine)
    found = jax.jit(lambda state, j: case.family.gram(state, j, j))(
        case.state, case.jacobian(case.x)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def test_the_gram_matrix_is_in_double_precision_for_single_precision_weights(case):
    def gram(state, params):
        outputs = jnp.eye(2, dtype=jnp.float32)
        jacobian = case.network.jacobian(params, case.x, outputs)
        return case.family.gram(state, jacobian, jacobian)

    single = jax.tree.map(lambda leaf: leaf.astype(jnp.float32), (case.state, case.params))
    assert jax.eval_shape(gram, *single).dtype == jnp.float64


def test_samples_have_this_covariance(case):
    def draw(key):
        return ravel_pytree(case.family.sample(case.state, case.params, key=key))[0]

    draws = jax.jit(jax.vmap(draw))(jax.random.split(KEY, 20_000))
    matrix = np.asarray(case.matrix)
    # The error of an empirical covariance has variance (S_ii S_jj + S_ij^2) / n.
    variances = np.diag(matrix)
    error = np.sqrt((np.outer(variances, variances) + matrix**2) / len(draws))
    assert np.all(np.abs(draws.T @ draws / len(draws) - matrix) <= 5 * error)


def test_a_sample_is_shaped_like_the_parameters(case):
    draw = jax.eval_shape(lambda: case.family.sample(case.state, case.params, key=KEY))
    params = jax.eval_shape(lambda: case.params)
    assert jax.tree.structure(draw) == jax.tree.structure(params)
    assert jax.tree.leaves(draw) == jax.tree.leaves(params)


def _weighed(cov):
    """One number that depends on every entry of the covariance."""
    return jnp.sum(cov * _waves(cov))


def _everything(case):
    """Covariance, variance and a gradient, by a function that was never compiled before."""

    def weighed(state):
        function = case.function(state)
        cov, variance = function.at(case.x).cov, function.marginals(case.x).variance
        return _weighed(cov) + _weighed(variance), (cov, variance)

    return ravel_pytree(jax.jit(jax.grad(weighed, has_aux=True))(case.state))[0]


def test_working_in_blocks_changes_neither_covariance_nor_gradient(case, monkeypatch):
    whole = _everything(case)
    sizes = (1, 40) if isinstance(case.network, MLP) else (1,)
    for block_elements in sizes:
        monkeypatch.setattr("gfsvi.networks.jacobian.BLOCK_ELEMENTS", block_elements)
        np.testing.assert_allclose(_everything(case), whole, rtol=1e-9, atol=1e-11)


def test_gradients_reach_every_part_of_the_state(case):
    gradient = jax.jit(jax.grad(lambda state: _weighed(case.function(state).at(case.x).cov)))(
        case.state
    )
    assert all(np.any(leaf != 0) for leaf in jax.tree.leaves(gradient))


@pytest.mark.parametrize("family", [Diagonal(0.05), Kronecker(0.05), Full(0.05)])
def test_weights_begin_independent_with_the_standard_deviation_asked_for(family):
    case = Case(family, *NETWORKS["mlp"])
    case.state = family.init(case.params, key=KEY)
    matrix = case.matrix
    np.testing.assert_allclose(matrix, 0.05**2 * np.eye(len(matrix)), atol=1e-12)


def test_the_last_layer_family_leaves_the_other_layers_certain():
    case = Case(LastLayer(), *NETWORKS["mlp"])
    last = case.params[-1].size
    matrix = case.matrix
    assert np.all(matrix[:-last] == 0)
    assert np.all(np.diag(matrix)[-last:] > 0)


def test_a_full_covariance_refuses_a_large_network_in_words():
    params = (jnp.zeros((65, 64)),)
    with pytest.raises(ValueError, match=r"at most 4096 weights; got 4160\. Use Kronecker"):
        Full().init(params, key=KEY)
