import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi import Data, Fit, Model, Training
from gfsvi.diagnostics import Diagnostic, diagnose
from gfsvi.diagnostics.convergence import objective_gain, score_gain
from gfsvi.diagnostics.network import out_of_reach
from gfsvi.diagnostics.prior import shortest_lengths
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Linear, Matern32, Periodic, White
from gfsvi.likelihoods import Categorical, HeteroscedasticNormal, Normal, Poisson, StudentT
from gfsvi.methods import GFSVI
from gfsvi.networks import MLP
from gfsvi.points import BatchRows, FixedPoints, LowDiscrepancy, Mixture, UniformBox
from gfsvi.training.history import History

KEY = jax.random.key(0)
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(40, 1))
DATA = Data(X, np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=40))
PRIOR = Model(GaussianProcess(RBF(0.7)), Normal(0.1))
METHOD = GFSVI(
    network=MLP((30, 30)),
    points=Mixture((FixedPoints(), LowDiscrepancy(20))),
    training=Training(num_steps=400, evaluate_every=200),
    gauss_newton=False,
)
NOTHING = History({"objective": np.zeros(0)}, np.zeros(0, int), np.zeros(0), 0)


@dataclasses.dataclass(frozen=True)
class Case:
    """A fit, any part of which a test may exchange for a worse one."""

    prior: Model
    before: Model
    fit: Fit
    method: GFSVI
    data: Data = DATA

    def found(self, **changes) -> dict[str, Diagnostic]:
        """Diagnostics by name, after these changes of the arguments."""
        arguments = {
            "prior": self.prior,
            "posterior": self.fit.posterior,
            "data": self.data,
            "method": self.method,
            "history": self.fit.history,
            "before": self.before,
            "key": KEY,
            **changes,
        }
        return {diagnostic.name: diagnostic for diagnostic in diagnose(**arguments)}


def case(prior: Model, method: GFSVI, **options) -> Case:
    before = method.initial(prior, DATA, key=KEY)
    return Case(prior, before, method(prior, DATA, key=KEY, start=before, **options), method)


def changed(module, **fields):
    return dataclasses.replace(module, **fields)


def with_kernel(kernel) -> Model:
    return Model(GaussianProcess(kernel), Normal(0.1))


@pytest.fixture(scope="module")
def healthy() -> Case:
    return case(PRIOR, METHOD)


@pytest.fixture(scope="module")
def hurried() -> Case:
    """Too few units, too few steps."""
    training = Training(num_steps=20, evaluate_every=5)
    narrow = changed(METHOD, network=MLP((2,)), training=training, warm_up=None)
    method = changed(narrow, gauss_newton=False, calibrate=0.0)
    return case(with_kernel(RBF(0.1)), method, validation=DATA)


def test_a_healthy_fit_has_nothing_to_report(healthy):
    assert healthy.found() == {}
    assert healthy.found(before=None) == {}


def test_a_network_of_two_units_cannot_express_a_wiggly_prior(hurried):
    found = hurried.found()["network_cannot_express_prior"]
    assert found.severity == "warning"
    assert "before training" in found.message and "hidden" in found.remedy
    assert "before training" not in hurried.found(before=None)[found.name].message


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


def test_five_points_are_too_few_for_a_short_length_scale(healthy):
    method = changed(healthy.method, points=UniformBox(5))
    found = healthy.found(prior=with_kernel(RBF(0.1)), method=method)
    assert "all 5 of them" in found["too_few_points"].message
    assert "num_points" in found["too_few_points"].remedy
    assert "too_few_points" not in healthy.found(prior=with_kernel(RBF(0.1)))
    assert "too_few_points" not in healthy.found(method=method, prior=with_kernel(RBF(2.0)))


def test_batches_of_a_sorted_table_are_taken_from_all_of_it(healthy):
    data = DATA.take(np.argsort(X[:, 0]))
    training = Training(batch_size=10)
    method = changed(healthy.method, points=BatchRows(10), training=training)
    assert "too_few_points" not in healthy.found(
        prior=with_kernel(RBF(0.3)), data=data, method=method
    )


def test_a_divergence_that_changes_with_the_points_is_reported(healthy):
    history = healthy.fit.history
    steps = np.random.default_rng(0).lognormal(size=len(history.steps["divergence"]))
    unsteady = changed(history, steps={**history.steps, "divergence": 10 * steps})
    assert "unsteady_divergence" in healthy.found(history=unsteady)


def test_a_divergence_that_falls_steadily_is_not_unsteady(healthy):
    history = healthy.fit.history
    falling = np.geomspace(1e3, 1, len(history.steps["divergence"]))
    steady = changed(history, steps={**history.steps, "divergence": falling})
    assert "unsteady_divergence" not in healthy.found(history=steady)


def test_a_large_gamma_makes_the_prior_fade(healthy):
    found = healthy.found(method=changed(healthy.method, gamma=1e-3))["gamma_too_large"]
    assert "gamma = 0.001 at 60 points" in found.message
    suggested = float(found.remedy.split()[3])
    assert "gamma_too_large" not in healthy.found(method=changed(healthy.method, gamma=suggested))


def test_a_tiny_gamma_is_lost_in_rounding(healthy):
    found = healthy.found(method=changed(healthy.method, gamma=1e-17))["gamma_too_small"]
    assert "dtype=jnp.float64" in found.remedy
    suggested = float(found.remedy.split()[3])
    assert "gamma_too_small" not in healthy.found(method=changed(healthy.method, gamma=suggested))
    double = changed(healthy.method, gamma=1e-14, dtype=jnp.float64)
    assert "gamma_too_small" not in healthy.found(method=double)


def test_a_pivot_below_what_gamma_adds_is_reported(healthy):
    history = healthy.fit.history
    pivots = np.full_like(history.steps["smallest_pivot"], 1e-12)
    history = changed(history, steps={**history.steps, "smallest_pivot": pivots})
    assert "smallest was 1e-12" in healthy.found(history=history)["gamma_too_small"].message


@pytest.mark.parametrize(
    ("noise", "word"), [(1e-5, "of the target's"), (0.03, "errs by"), (0.11, None)]
)
def test_noise_far_below_the_errors_has_collapsed(healthy, noise, word):
    posterior = Model(healthy.fit.posterior.function, Normal(noise))
    found = healthy.found(posterior=posterior)
    assert ("noise_collapsed" in found) == (word is not None)
    assert word is None or word in found["noise_collapsed"].message


def test_noise_that_fell_far_below_the_prior_s_needs_validation_rows(healthy):
    prior = Model(healthy.prior.function, Normal(5.0))
    assert "no validation rows" in healthy.found(prior=prior)["noise_collapsed"].message
    checked = changed(healthy.fit.history, scores=np.ones(5), score_steps=50 * np.arange(1, 6))
    assert "noise_collapsed" not in healthy.found(prior=prior, history=checked)


def test_a_flat_mean_under_large_noise_has_lost_the_signal(healthy):
    function = healthy.fit.posterior.function
    flat = changed(function, params=jax.tree.map(jnp.zeros_like, function.params))
    found = healthy.found(posterior=Model(flat, Normal(1.0)))
    assert "varies by 0 " in found["noise_swallowed_signal"].message
    assert "noise_collapsed" not in found


def test_a_training_cut_short_was_still_improving(hurried):
    found = hurried.found()["still_improving"]
    assert "validation score rose" in found.message and "all 20 steps" in found.message
    assert "num_steps" in found.remedy


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


def test_a_very_long_length_scale_is_noted_with_the_feature_s_name(healthy):
    prior = with_kernel(RBF(500.0))
    found = healthy.found(prior=prior, feature_names=["depth"])["features_ignored"]
    assert found.severity == "note" and "depend on depth:" in found.message
    assert "depend on x1:" in healthy.found(prior=prior)["features_ignored"].message


def test_length_scales_are_found_in_sums_products_and_parts():
    kernel = RBF([1.0, 2.0, 9.0]) + 2.0 * Matern32(0.5).on(1) * RBF([3.0, 4.0]).on(0, 2)
    np.testing.assert_array_equal(shortest_lengths(kernel, 3), [1.0, 0.5, 4.0])
    np.testing.assert_array_equal(shortest_lengths(RBF(9.0) + Linear(), 2), [0, 0])
    np.testing.assert_array_equal(shortest_lengths(RBF(9.0).on(1) + Periodic().on(0), 2), [0, 9])


@pytest.mark.parametrize("kernel", [RBF(1e-4), White()], ids=["short", "white"])
def test_a_prior_without_neighbours_is_like_white_noise(healthy, kernel):
    assert "prior_is_white_noise" in healthy.found(prior=with_kernel(kernel))


def test_repeated_rows_do_not_hide_a_prior_like_white_noise(healthy):
    twice = Data(np.repeat(X[:20], 2, axis=0), DATA.y)
    assert "prior_is_white_noise" in healthy.found(prior=with_kernel(RBF(1e-4)), data=twice)


@pytest.mark.parametrize(("variance", "word"), [(1e5, "wider"), (1e-5, "narrower")])
def test_a_prior_of_another_size_than_the_target_is_noted(healthy, variance, word):
    found = healthy.found(prior=with_kernel(RBF(0.7, variance=variance)))["prior_out_of_scale"]
    assert word in found.title and found.severity == "note"


@pytest.mark.parametrize(
    ("likelihood", "y", "outputs"),
    [
        (HeteroscedasticNormal(0.7), DATA.y, 2),
        (Normal([0.7, 0.7]), np.stack([DATA.y, -DATA.y], axis=1), 2),
        (StudentT(0.7), DATA.y, 1),
        (Categorical(), (DATA.y > 0).astype(int), 2),
        (Poisson(), np.arange(40) % 3, 1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_likelihood_is_handled_even_untrained(likelihood, y, outputs):
    data = Data(X, y)
    prior = Model(GaussianProcess(RBF(0.7), outputs=outputs), likelihood)
    method = changed(METHOD, network=MLP((30, 30), outputs=outputs))
    start = method.initial(prior, data, key=KEY)
    assert diagnose(prior, start, data, method=method, history=NOTHING, key=KEY) == ()


def test_the_noise_of_every_row_counts_where_noise_is_a_function():
    prior = Model(GaussianProcess(RBF(0.7), outputs=2), HeteroscedasticNormal(0.7))
    method = changed(METHOD, network=MLP((30, 30), outputs=2))
    start = method.initial(prior, DATA, key=KEY)
    last = start.function.params[-1]
    params = (*start.function.params[:-1], last.at[-1, 1].set(-12.0))
    quiet = eqx.tree_at(lambda model: model.function.params, start, params)
    found = diagnose(prior, quiet, DATA, method=method, history=NOTHING, key=KEY)
    assert [diagnostic.name for diagnostic in found] == ["noise_collapsed"]


def test_inputs_of_any_shape_and_points_from_batches_are_handled(healthy):
    data = Data(X[..., None], DATA.y)
    method = changed(METHOD, points=BatchRows(60))
    assert healthy.found(data=data, method=method) == {}


def test_warnings_come_before_notes_and_each_is_one_sentence(healthy):
    method = changed(healthy.method, gamma=1e-17)
    found = list(healthy.found(prior=with_kernel(RBF(500.0)), method=method).values())
    assert [diagnostic.severity for diagnostic in found] == ["warning", "note"]
    for diagnostic in found:
        sentence = str(diagnostic)
        assert sentence.startswith(f"{diagnostic.severity}: ") and sentence.endswith(".")
        assert ". " not in sentence and "\n" not in sentence


def test_nothing_needs_the_global_double_precision_setting(healthy):
    with jax.enable_x64(False):
        assert healthy.found() == {}
