"""Laplace with Kronecker factors against laplace-torch, which knows nothing of our Jacobians.

Its factors are sums over rows, of inputs alone and of signals alone, and their product is all that
it keeps of a layer. Ours weigh a row's inputs by its signals and its signals by its inputs, and
give the axes along which curvature is kept as it is. Where a layer's block is such a product, the
two agree as they are; elsewhere its factors, made of our inputs and signals, are compared.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import block_diag

from gfsvi import Data, Model
from gfsvi.covariances import Full, RotatedDiagonal
from gfsvi.functions import BayesianNetwork, Ensemble, LinearizedNetwork
from gfsvi.inference.curvature import _weighted_jacobian, curvature
from gfsvi.inference.point_estimate import WeightPrior
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.networks import MLP

pytest.importorskip("laplace", reason="make test-peers installs it")

import torch
from curvlinops import EKFACLinearOperator, FisherType
from laplace import KronLaplace
from laplace.curvature import CurvlinopsGGN
from torch.utils.data import DataLoader, TensorDataset

RANDOM = np.random.default_rng(0)
X, GRID = RANDOM.normal(size=(40, 2)), RANDOM.normal(size=(7, 2))
ALIKE = np.repeat(X[:1], len(X), axis=0)
SCALE, NOISE = 0.7, 0.4
# likelihood, observations, outputs, laplace-torch's likelihood and noise
PROBLEMS = {
    "normal": (Normal(NOISE), RANDOM.normal(size=40), 1, "regression", NOISE),
    "classes": (Categorical(), np.arange(40) % 3, 3, "classification", 1.0),
}
# problem, hidden layers and rows at which the block of every layer is a Kronecker product
PRODUCTS = {
    "rows_alike": ("normal", (6, 5), ALIKE),
    "rows_alike_in_classes": ("classes", (6, 5), ALIKE),
    "linear": ("normal", (), X),
}


@dataclasses.dataclass
class Case:
    """A network at random weights, for both libraries."""

    problem: str
    hidden: tuple[int, ...] = (6, 5)
    x: np.ndarray = dataclasses.field(default_factory=lambda: X)

    def __post_init__(self):
        self.likelihood, y, outputs, self.their_likelihood, self.noise = PROBLEMS[self.problem]
        self.network, self.data = MLP(self.hidden, outputs), Data(self.x, y)
        self.params = self.network.init(X, key=jax.random.key(0), dtype=jnp.float64)
        stacked = jax.tree.map(lambda leaf: leaf[None], self.params)
        self.model = Model(Ensemble(self.network, stacked), self.likelihood)
        prior = BayesianNetwork.prior(self.network, X, scale=SCALE, dtype=jnp.float64)
        self.stds = WeightPrior.of(prior).stds

    def jacobian(self):
        rows = jax.tree.map(jnp.asarray, self.data)
        present = jnp.ones(len(self.x))
        return _weighted_jacobian(self.model.function, self.likelihood, rows, present)

    def factors(self):
        """Products of inputs averaged over rows, and products of signals summed over them."""
        ones = np.ones((len(self.x), 1))
        inputs = [np.concatenate([leaf.inputs, ones], axis=1) for leaf in self.jacobian()]
        signals = [np.concatenate(np.asarray(leaf.signals)) for leaf in self.jacobian()]
        return [(a.T @ a / len(a), s.T @ s) for a, s in zip(inputs, signals, strict=True)]

    def predicted(self, state):
        function = LinearizedNetwork(self.network, RotatedDiagonal(), self.params, state)
        values = function.marginals(GRID)
        return values.mean.T, values.cov

    def theirs(self, separate_bias=False):
        layers = [layer(matrix, separate_bias) for matrix in self.params]
        tanhs = [torch.nn.Tanh() for _ in layers]
        steps = [step for pair in zip(tanhs, layers, strict=True) for step in pair][1:]
        found = KronLaplace(
            torch.nn.Sequential(*steps),
            self.their_likelihood,
            sigma_noise=self.noise,
            prior_precision=1 / SCALE**2,
            backend=CurvlinopsGGN,
        )
        found.fit(DataLoader(TensorDataset(*self.their_rows()), batch_size=len(self.x)))
        return found

    def their_rows(self):
        y = self.data.y if self.problem == "classes" else self.data.y[:, None]
        return torch.tensor(self.x), torch.tensor(y)

    def in_their_order(self, matrix):
        """The same matrix where weights are counted output by output in each layer."""
        order, start = [], 0
        for leaf in self.params:
            order.append(start + np.arange(leaf.size).reshape(leaf.shape).T.ravel())
            start += leaf.size
        return matrix[np.ix_(np.concatenate(order), np.concatenate(order))]


class WithOne(torch.nn.Module):
    """Appends the input that our biases multiply."""

    def forward(self, x):
        return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def layer(matrix, separate_bias):
    """Our layer in torch, its bias by itself or, as ours, one more row of weights."""
    values = torch.tensor(np.asarray(matrix))
    rows = len(values) - separate_bias
    linear = torch.nn.Linear(rows, values.shape[1], bias=separate_bias, dtype=torch.float64)
    linear.weight.data = values[:rows].T.contiguous()
    if not separate_bias:
        return torch.nn.Sequential(WithOne(), linear)
    linear.bias.data = values[-1]
    return linear


def predicted_by(found):
    jacobians, mean = found.backend.jacobians(torch.tensor(GRID))
    return mean.detach().numpy(), found.functional_variance(jacobians).detach().numpy()


def curvature_of(found):
    """What laplace-torch keeps of the Gauss-Newton matrix, as a matrix."""
    precision = found.posterior_precision.to_matrix().detach().numpy()
    return precision - np.eye(len(precision)) / SCALE**2


def along(axes, diagonals):
    """The matrix that has these diagonals along these axes, layer by layer."""
    rotations = [np.kron(left, right) for left, right in axes]
    pairs = zip(rotations, diagonals, strict=True)
    return block_diag(*[r @ np.diag(np.ravel(diagonal)) @ r.T for r, diagonal in pairs])


def assert_same(found, expected, rtol=1e-9):
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_our_inputs_and_signals_make_the_factors_of_laplace_torch(problem):
    case = Case(problem)
    blocks = []
    for inputs, signals in case.factors():
        blocks += [np.kron(signals, inputs[:-1, :-1]), signals * inputs[-1, -1]]
    assert_same(curvature_of(case.theirs(separate_bias=True)), block_diag(*blocks))


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_with_these_factors_we_predict_what_laplace_torch_predicts(problem):
    case = Case(problem)
    state = []
    for inputs, signals in case.factors():
        (values, left), (others, right) = np.linalg.eigh(inputs), np.linalg.eigh(signals)
        precision = np.outer(values, others) + 1 / SCALE**2
        state.append((left, right, -np.log(precision) / 2))
    mean, cov = case.predicted(jax.tree.map(jnp.asarray, tuple(state)))
    peer_mean, peer_cov = predicted_by(case.theirs())
    assert_same(mean, peer_mean)
    assert_same(cov, peer_cov, rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_our_curvature_along_their_axes_is_their_corrected_one(problem):
    case = Case(problem)
    backend = case.theirs().backend
    peer = EKFACLinearOperator(
        backend.model,
        backend.lossfunc,
        backend.params,
        [case.their_rows()],
        fisher_type=FisherType.TYPE2,
        check_deterministic=False,
    )
    axes = [[np.linalg.eigh(factor)[1] for factor in factors] for factors in case.factors()]
    pairs = zip(case.jacobian(), axes, strict=True)
    found = along(axes, [leaf.rotated(*sides).sum_of_squares() for leaf, sides in pairs])
    expected = peer @ torch.eye(len(found), dtype=torch.float64)
    share = backend.factor / case.noise**2
    assert_same(case.in_their_order(found), share * expected.detach().numpy(), rtol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("name", PRODUCTS)
def test_where_layers_are_kronecker_products_we_predict_what_laplace_torch_predicts(name):
    case = Case(*PRODUCTS[name])
    ours, theirs = curvature(RotatedDiagonal(), case.model, case.data), case.theirs()
    mean, cov = case.predicted(ours.state(case.stds))
    peer_mean, peer_cov = predicted_by(theirs)
    assert_same(mean, peer_mean)
    assert_same(cov, peer_cov, rtol=1e-7)
    assert_same(ours.log_det(case.stds), theirs.log_det_ratio.item())


@pytest.mark.slow
@pytest.mark.parametrize("problem", PROBLEMS)
def test_we_stay_closer_to_the_blocks_of_the_layers_than_laplace_torch_does(problem):
    case = Case(problem)
    whole = np.asarray(curvature(Full(), case.model, case.data).matrix)
    ours = curvature(RotatedDiagonal(), case.model, case.data)
    blocks = whole * block_diag(*[np.ones((leaf.size, leaf.size)) for leaf in case.params])
    distance = np.linalg.norm(along(ours.axes, ours.along_axes.diagonal) - blocks)
    peer_distance = np.linalg.norm(curvature_of(case.theirs()) - case.in_their_order(blocks))
    assert distance < 0.8 * peer_distance
