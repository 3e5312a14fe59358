"""What every network promises, whoever wrote it."""

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx
from jax.flatten_util import ravel_pytree

from gfsvi.networks import (
    CNN,
    MLP,
    EquinoxNetwork,
    FlaxNNXNetwork,
    FunctionNetwork,
    HaikuNetwork,
    LinenNetwork,
)
from gfsvi.networks.jacobian import as_matrix

TABLE = np.sin(np.arange(15.0)).reshape(5, 3)
IMAGES = np.sin(np.arange(144.0)).reshape(2, 6, 6, 2)
KEY = jax.random.key(1)


def nnx_network():
    rngs = nnx.Rngs(0)
    return nnx.Sequential(nnx.Linear(3, 4, rngs=rngs), jnp.tanh, nnx.Linear(4, 2, rngs=rngs))


NETWORKS = {
    "mlp": (MLP(hidden=(4, 3), outputs=2), TABLE),
    "mlp_linear": (MLP(hidden=(), outputs=1), TABLE),
    "mlp_on_images": (MLP(hidden=(4,), outputs=2, activation=jax.nn.silu), IMAGES),
    "cnn": (CNN(channels=(2, 3), hidden=4, outputs=3, activation=jax.nn.silu), IMAGES),
    "equinox": (EquinoxNetwork(eqx.nn.MLP(3, 2, 4, 2, activation=jnp.tanh, key=KEY)), TABLE),
    "nnx": (FlaxNNXNetwork(nnx_network()), TABLE),
    "linen": (LinenNetwork(nn.Sequential([nn.Dense(4), jnp.tanh, nn.Dense(2)])), TABLE),
    "haiku": (HaikuNetwork(lambda x: hk.nets.MLP([4, 2], activation=jnp.tanh)(x)), TABLE),
    "function": (
        FunctionNetwork(
            lambda p, x: jnp.tanh(x @ p["w"]) * p["scale"],
            {"w": np.cos(np.arange(6.0)).reshape(3, 2), "scale": 0.7},
        ),
        TABLE,
    ),
}


@pytest.fixture(params=NETWORKS)
def case(request):
    return NETWORKS[request.param]


@eqx.filter_jit
def initialised(network, x, dtype, shift=0.0):
    """Parameters to start from, moved away from zero biases, where mistakes hide."""
    leaves, structure = jax.tree.flatten(network.init(x, key=KEY, dtype=dtype))
    moved = [
        v + shift * jnp.cos(jnp.arange(1.0 * v.size, dtype=dtype)).reshape(v.shape) for v in leaves
    ]
    return jax.tree.unflatten(structure, moved)


@eqx.filter_jit
def from_network(network, params, x, outputs):
    """The Jacobian with axes (point, k, weight), multiplied out through `project` alone."""
    blocks = []
    for leaf in network.jacobian(params, x, outputs):
        rows, columns = leaf.matrix_shape
        identity = jnp.reshape(jnp.eye(rows * columns), (rows, columns, -1))
        blocks.append(leaf.project(identity))
    return jnp.concatenate(blocks, axis=-1)


@eqx.filter_jit
def automatic(network, params, x):
    """The same from jax.jacobian, for all outputs."""
    flat, restore = ravel_pytree(params)
    return jax.jacobian(lambda p: network.apply(restore(p), x))(flat)


def num_outputs(network, params, x):
    return jax.eval_shape(network.apply, params, x).shape[1]


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_parameters_outputs_and_jacobian_have_the_precision_asked_for(case, dtype):
    network, x = case
    params = jax.eval_shape(lambda: network.init(x, key=KEY, dtype=dtype))
    outputs = jax.eval_shape(network.apply, params, x)
    directions = jax.ShapeDtypeStruct((1, outputs.shape[1]), dtype)
    jacobian = jax.eval_shape(network.jacobian, params, x, directions)
    leaves = jax.tree.leaves((params, outputs, jacobian))
    assert {leaf.dtype for leaf in leaves} == {jnp.dtype(dtype)}


def test_outputs_have_one_row_a_point_and_do_not_depend_on_other_points(case):
    network, x = case
    params = initialised(network, x, jnp.float64, shift=0.2)
    apply = eqx.filter_jit(network.apply)
    outputs = apply(params, x)
    assert outputs.shape == (len(x), num_outputs(network, params, x))
    np.testing.assert_allclose(apply(params, x[1:]), outputs[1:], rtol=1e-10)


@pytest.mark.parametrize(("dtype", "tolerance"), [(jnp.float64, 1e-10), (jnp.float32, 1e-6)])
def test_the_jacobian_is_that_of_automatic_differentiation(case, dtype, tolerance):
    network, x = case
    params = initialised(network, x, dtype, shift=0.2)
    expected = automatic(network, params, x)
    found = from_network(network, params, x, jnp.eye(expected.shape[1], dtype=dtype))
    scale = jnp.max(jnp.abs(expected))
    np.testing.assert_allclose(found / scale, expected / scale, rtol=0, atol=tolerance)


def test_the_jacobian_follows_the_outputs_asked_for(case):
    network, x = case
    params = initialised(network, x, jnp.float64, shift=0.2)
    every = from_network(network, params, x, jnp.eye(num_outputs(network, params, x)))
    outputs = jnp.cos(jnp.arange(3.0 * every.shape[1])).reshape(3, -1)
    expected = jnp.einsum("ko,pow->pkw", outputs, every)
    found = from_network(network, params, x, outputs)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_jacobian_has_one_part_a_leaf_and_the_size_it_says(case):
    network, x = case
    params = jax.eval_shape(lambda: network.init(x, key=KEY))
    direction = jax.ShapeDtypeStruct((1, num_outputs(network, params, x)), jnp.float32)
    jacobian = jax.eval_shape(network.jacobian, params, x[:1], direction)
    leaves = [jax.eval_shape(as_matrix, leaf) for leaf in jax.tree.leaves(params)]
    assert [part.matrix_shape for part in jacobian] == [leaf.shape for leaf in leaves]
    assert network.jacobian_size(params) == sum(leaf.size for leaf in jax.tree.leaves(jacobian))


def test_gradients_flow_through_the_jacobian(case):
    network, x = case
    params = initialised(network, x, jnp.float64, shift=0.2)
    outputs = jnp.eye(num_outputs(network, params, x))[:1]

    @eqx.filter_jit
    @eqx.filter_grad
    def found(params):
        return jnp.sum(from_network(network, params, x, outputs) ** 2)

    @eqx.filter_jit
    @eqx.filter_grad
    def expected(params):
        return jnp.sum(automatic(network, params, x)[:, 0] ** 2)

    found, expected = (ravel_pytree(gradient(params))[0] for gradient in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
