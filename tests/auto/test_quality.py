"""Poor fits are remarked upon, and good ones are not."""

# pyright: reportArgumentType=false
# Stand-ins have what is asked of a fit, and arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from gfsvi import BayesianRegressor
from gfsvi.auto.quality import (
    Judged,
    PoorFitWarning,
    judged_rows,
    next_command,
    quality,
)
from gfsvi.auto.targets import Labels, Numbers
from gfsvi.auto.within_budget import over_budget
from gfsvi.data import Data
from gfsvi.likelihoods import AdaptiveNormal, Categorical, Normal
from gfsvi.methods import GFSVI, ExactGP
from gfsvi.predictives import CategoricalPredictive, NormalPredictive

NUM_ROWS = 400
RANDOM = np.random.default_rng(0)
SIGNAL, NOISE = RANDOM.normal(size=(2, NUM_ROWS))
NUMBERS = SimpleNamespace(
    target=Numbers(0.0, 1.0), preparation=None, posterior=SimpleNamespace(likelihood=Normal())
)
LABELS = SimpleNamespace(
    target=Labels(("no", "yes")),
    preparation=None,
    posterior=SimpleNamespace(likelihood=Categorical(2)),
)


def numbers(mean: np.ndarray, std: float = 1.0, *, is_new: bool = True) -> Judged:
    """Predictions of signal plus standard normal noise."""
    predictive = NormalPredictive(mean, np.zeros(NUM_ROWS), np.full(NUM_ROWS, std**2))
    y = SIGNAL + NOISE
    return Judged(predictive, y, np.ones(NUM_ROWS), y, np.ones(NUM_ROWS), is_new, GFSVI)


def labels(probability: float, *, y: np.ndarray) -> Judged:
    """Every row is predicted to be a yes with this probability."""
    draws = np.log([1 - probability, probability]) * np.ones((1, len(y), 1))
    ones = np.ones(len(y))
    return Judged(CategoricalPredictive(draws), y, ones, y, ones, True, GFSVI)


def names(judged: Judged, fitted: SimpleNamespace = NUMBERS) -> list[str]:
    return [finding.name for finding in quality(judged, fitted)]


def test_good_predictions_are_not_remarked_upon():
    assert names(numbers(SIGNAL)) == []


def test_predictions_worse_than_the_mean_are_a_warning_with_the_excess():
    [finding] = quality(numbers(-0.2 * SIGNAL, np.sqrt(1.2**2 + 1)), NUMBERS)
    assert (finding.name, finding.severity) == ("worse_than_guessing", "warning")
    y = SIGNAL + NOISE
    excess = np.sqrt(np.mean((y + 0.2 * SIGNAL) ** 2)) / np.std(y) - 1
    assert f"{100 * excess:.0f} % larger" in finding.message


def test_a_method_that_was_used_is_not_recommended_again():
    judged = numbers(-SIGNAL, 2.0)
    assert "--method exact_gp" in quality(judged, NUMBERS)[0].remedy
    assert "--method gfsvi" in quality(judged._replace(method=ExactGP), NUMBERS)[0].remedy


def test_rows_without_weight_do_not_count_against_the_predictions():
    mean = np.where(np.arange(NUM_ROWS) < 40, 50.0, SIGNAL)
    judged = numbers(mean)
    assert "worse_than_guessing" in names(judged)
    weights = (np.arange(NUM_ROWS) >= 40).astype(float)
    assert names(judged._replace(weights=weights)) == []


@pytest.mark.parametrize(("std", "word"), [(0.5, "narrow"), (2.0, "wide")])
def test_miscalibrated_intervals_are_a_warning(std, word):
    [finding] = quality(numbers(SIGNAL, std), NUMBERS)
    assert finding.name == "miscalibrated"
    assert finding.title == f"The intervals are too {word}"


def test_the_level_is_named_if_other_intervals_are_wrong_the_other_way():
    heavy = np.where(RANDOM.uniform(size=NUM_ROWS) < 0.12, 8.0, 0.5) * NOISE
    (found,) = quality(numbers(SIGNAL)._replace(y=SIGNAL + heavy), NUMBERS)
    assert found.title == "The 50 % intervals are too wide"


def test_noise_that_has_adapted_is_told_of_a_guarantee_instead_of_another_noise():
    adapted = SimpleNamespace(
        **vars(NUMBERS) | {"posterior": SimpleNamespace(likelihood=AdaptiveNormal())}
    )
    [finding] = quality(numbers(SIGNAL, 2.0), adapted)
    assert "--likelihood" not in finding.remedy
    assert next_command("gfsvi fit t.csv", finding) == "gfsvi fit t.csv --guarantee 0.9"


def test_intervals_of_training_rows_are_not_judged():
    assert names(numbers(SIGNAL, 2.0, is_new=False)) == []


def test_accuracy_below_the_most_frequent_class_is_a_warning():
    y = (np.arange(NUM_ROWS) < 240).astype(int)  # 60 % yes
    [finding] = quality(labels(0.45, y=y), LABELS)[:1]
    assert finding.name == "worse_than_guessing"
    assert "40 % of 400" in finding.message
    assert "60 % if always predicting `yes`" in finding.message
    assert "--method gp_classifier" in finding.remedy
    assert names(labels(0.6, y=y), LABELS) == []


@pytest.mark.parametrize(("probability", "word"), [(0.8, "over"), (0.51, "under")])
def test_confidence_that_differs_from_accuracy_is_a_warning(probability, word):
    y = (np.arange(NUM_ROWS) < 260).astype(int)  # 65 % yes
    [finding] = quality(labels(probability, y=y), LABELS)
    assert (finding.name, finding.title) == (
        "miscalibrated",
        f"The predictions are {word}confident",
    )


def test_probabilities_that_say_less_than_the_share_of_each_class_are_a_warning():
    """Right as often as the commonest class and as sure as right, but sure of the wrong rows."""
    y = np.repeat([1, 1, 1, 0], 50)
    chances = np.where(np.arange(200) < 100, 0.55, 0.95)  # surest where half of the rows are no
    draws = np.log(np.stack([1 - chances, chances], axis=1))[None]
    ones = np.ones(200)
    (found,) = quality(Judged(CategoricalPredictive(draws), y, ones, y, ones, True, GFSVI), LABELS)
    assert found.name == "worse_than_guessing" and "share of each class" in found.message
    own = np.mean(np.log(np.where(y == 1, chances, 1 - chances)))
    assert f"is {own:.3g}, and {0.75 * np.log(0.75) + 0.25 * np.log(0.25):.2f}" in found.message
    assert "`--method gp_classifier`" in found.remedy
    assert names(labels(0.75, y=y), LABELS) == []


def test_nothing_is_guaranteed_for_the_future():
    fitted = SimpleNamespace(
        target=Numbers(0.0, 1.0),
        preparation=None,
        posterior=SimpleNamespace(likelihood=AdaptiveNormal()),
    )
    (found,) = quality(numbers(SIGNAL, 0.1)._replace(is_future=True), fitted)
    assert "--guarantee" not in found.remedy and "count on the share above" in found.remedy


def test_few_independent_rows_of_the_future_prove_little():
    alike = np.repeat(RANDOM.normal(size=NUM_ROWS // 50), 50)  # errors of eight independent rows
    late = numbers(SIGNAL, 0.8)._replace(y=SIGNAL + alike)
    assert names(late) == ["miscalibrated"]
    assert names(late._replace(is_future=True)) == []
    apart = numbers(SIGNAL, 0.6)._replace(is_future=True)
    assert names(apart) == ["miscalibrated"]  # as many rows of which each says something


def test_a_fit_over_budget_is_a_warning():
    assert over_budget(20.0, None) is None
    assert over_budget(20.0, 20.0) is None
    late = over_budget(45.0, 20.0)
    assert late is not None
    assert "45 s instead of 20 s" in late.message
    assert "--time-budget 90" in late.remedy


def test_the_next_command_changes_only_what_the_remedy_says():
    late = over_budget(45.0, 20.0)
    assert late is not None
    fit = "gfsvi fit 'my table.csv' --target y"
    assert next_command(fit, late) == f"{fit} --time-budget 90"
    assert next_command(f"{fit} --time-budget 20", late) == f"{fit} --time-budget 90"
    assert next_command(fit, dataclasses.replace(late, name="noise_collapsed")) is None


def test_held_out_rows_are_judged_if_there_are_any():
    x, y = SIGNAL[:, None], SIGNAL
    fitted = SimpleNamespace(predict=lambda rows: len(rows), left_out=lambda *_: None)
    judged = judged_rows(fitted, Data(x, y), np.arange(10), GFSVI)
    assert (judged.predictive, judged.is_new, len(judged.guess)) == (10, True, NUM_ROWS - 10)
    judged = judged_rows(fitted, Data(x, y), np.zeros(0, int), GFSVI)
    assert (judged.predictive, judged.is_new, len(judged.guess)) == (NUM_ROWS, False, NUM_ROWS)


def test_an_estimator_warns_of_a_poor_fit_and_keeps_the_finding():
    x, y = SIGNAL[:60, None], NOISE[:60]
    y = np.where(np.arange(60) % 6 == 0, 30 * y, y)  # no signal, and outliers
    estimator = BayesianRegressor("exact_gp", kernel="rbf", random_state=1, validation_fraction=0.3)
    with pytest.warns(PoorFitWarning, match=r"^The .*`gfsvi fit`"):
        estimator.fit(x, y)
    assert estimator.diagnostics_[0].name in {"worse_than_guessing", "miscalibrated"}


def test_an_estimator_does_not_warn_of_a_good_fit():
    estimator = BayesianRegressor("exact_gp", kernel="rbf", random_state=0, validation_fraction=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(SIGNAL[:100, None], 3 * SIGNAL[:100] + NOISE[:100])
