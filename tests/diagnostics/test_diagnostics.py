"""What the checks measure, and likelihoods and inputs of every kind."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi import Data, Model
from gfsvi.diagnostics import diagnose
from gfsvi.diagnostics.convergence import objective_gain, score_gain
from gfsvi.diagnostics.examined import Observations
from gfsvi.diagnostics.network import out_of_reach
from gfsvi.diagnostics.noise import _relative_error
from gfsvi.diagnostics.prior import shortest_lengths
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Linear, Matern32, Periodic
from gfsvi.likelihoods import (
    Bernoulli,
    Categorical,
    CustomLikelihood,
    HeteroscedasticNormal,
    Normal,
    Poisson,
    StudentT,
    WarpedNormal,
)
from gfsvi.methods import GFSVI
from gfsvi.networks import MLP
from gfsvi.points import BatchRows
from gfsvi.predictives.warp import Warp
from gfsvi.training.history import History

from .cases import KEY, METHOD, NOTHING, X, Y, changed, healthy_case


def test_a_network_reaches_what_it_equals_and_nothing_of_what_it_lacks():
    prior = np.diag([2.0, 1.0, 1.0])
    assert out_of_reach(prior, prior) < 1e-6
    assert out_of_reach(np.diag([1.0, 0.0, 0.0]), prior) == pytest.approx(0.5, abs=1e-6)
    assert out_of_reach(np.zeros((3, 3)), prior) == pytest.approx(1.0)


@given(st.floats(1e-6, 1e6))
def test_the_size_of_the_network_s_covariance_does_not_matter(scale):
    network = np.array([[2.0, 1.0], [1.0, 1.0]])
    prior = np.array([[1.0, 0.3], [0.3, 2.0]])
    assert out_of_reach(scale * network, prior) == pytest.approx(out_of_reach(network, prior))


def history_of(scores) -> History:
    steps = 10 * np.arange(1, len(scores) + 1)
    best = int(steps[np.argmax(scores)])
    return History({"objective": np.zeros(steps[-1])}, steps, np.asarray(scores), best)


def test_only_a_score_that_is_best_at_the_end_is_still_improving():
    assert score_gain(history_of([0, 1, 2, 3, 4, 5])) == 2
    assert score_gain(history_of([0, 5, 4, 3, 2, 1])) == 0
    assert score_gain(history_of([0, 3, 3, 3, 3, 3.0])) == 0


def test_without_validation_rows_the_objective_is_asked():
    scatter = np.random.default_rng(0).normal(size=400)
    rising = History({"objective": np.linspace(0, 40, 400) + scatter}, np.zeros(0), np.zeros(0), 0)
    assert objective_gain(rising) == pytest.approx(4, abs=0.5)
    level = changed(rising, steps={"objective": scatter})
    assert objective_gain(level) == 0


def test_length_scales_are_found_in_sums_products_and_parts():
    kernel = RBF([1.0, 2.0, 9.0]) + 2.0 * Matern32(0.5).on(1) * RBF([3.0, 4.0]).on(0, 2)
    np.testing.assert_array_equal(shortest_lengths(kernel, 3), [1.0, 0.5, 4.0])
    np.testing.assert_array_equal(shortest_lengths(RBF(9.0) + Linear(), 2), [0, 0])
    np.testing.assert_array_equal(shortest_lengths(RBF(9.0).on(1) + Periodic().on(0), 2), [0, 9])


def laplace_density(y, f):
    return -jnp.abs(y - f[0]) / 0.5


def untrained(likelihood, data: Data, outputs: int) -> tuple[Model, Model, GFSVI]:
    """A prior, the posterior that training starts from, and the method."""
    prior = Model(GaussianProcess(RBF(0.7), outputs=outputs), likelihood)
    method = changed(METHOD, network=MLP((30, 30), outputs=outputs))
    return prior, method.initial(prior, data, key=KEY), method


BOTH = np.stack([Y, -Y], axis=1)


@pytest.mark.parametrize(
    ("likelihood", "y", "outputs"),
    [
        (HeteroscedasticNormal(0.7), Y, 2),
        (Normal([0.7, 0.7]), BOTH, 2),
        (WarpedNormal([0.7, 0.7], Warp.fitted(np.exp(BOTH))), np.exp(BOTH), 2),
        (StudentT(0.7), Y, 1),
        (StudentT(0.3, 1.5), Y, 1),  # of infinite variance
        (CustomLikelihood(laplace_density), Y, 1),
        (Bernoulli(), (Y > 0).astype(int), 1),
        (Categorical(), (Y > 0).astype(int), 2),
        (Poisson(), np.arange(40) % 3, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_likelihood_is_handled_even_untrained(likelihood, y, outputs):
    data = Data(X, y)
    prior, start, method = untrained(likelihood, data, outputs)
    assert diagnose(prior, start, data, method=method, history=NOTHING, key=KEY) == ()


@pytest.mark.parametrize(
    ("likelihood", "tiny", "y", "outputs"),
    [
        (StudentT(0.7), StudentT(1e-5), Y, 1),
        (StudentT(0.7, 1.5), StudentT(1e-5, 1.5), Y, 1),
        (Normal([0.7, 0.7]), Normal([1e-5, 1e-5]), BOTH, 2),
        (HeteroscedasticNormal(0.7), HeteroscedasticNormal(1e-5), Y, 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_likelihood_with_noise_can_lose_it(likelihood, tiny, y, outputs):
    data = Data(X, y)
    prior, start, method = untrained(likelihood, data, outputs)
    quiet = Model(start.function, tiny)
    found = diagnose(prior, quiet, data, method=method, history=NOTHING, key=KEY)
    assert "noise_collapsed" in [diagnostic.name for diagnostic in found]


def test_the_noise_of_every_row_counts_where_noise_is_a_function():
    data = Data(X, Y)
    prior, start, method = untrained(HeteroscedasticNormal(0.7), data, 2)
    last = start.function.params[-1]
    params = (*start.function.params[:-1], last.at[-1, 1].set(-12.0))
    quiet = eqx.tree_at(lambda model: model.function.params, start, params)
    found = diagnose(prior, quiet, data, method=method, history=NOTHING, key=KEY)
    assert [diagnostic.name for diagnostic in found] == ["noise_collapsed"]


def test_inputs_of_any_shape_and_points_from_batches_are_handled():
    healthy = healthy_case("normal")
    data = Data(X[..., None], Y)
    method = changed(METHOD, points=BatchRows(60))
    assert healthy.found(data=data, method=method) == {}


def test_a_few_rows_far_off_do_not_mean_that_the_noise_is_too_small():
    noise = np.random.default_rng(0).normal(size=200)
    few = np.where(np.arange(200) % 40 == 0, 30 * noise, noise)
    for errors, wanted in ((few, 1.0), (3 * noise, 3.0)):
        values = (errors[None], np.zeros((1, 200)), np.ones((1, 200)), errors[None])
        assert _relative_error(Observations(*values)) == pytest.approx(wanted, rel=0.15)
