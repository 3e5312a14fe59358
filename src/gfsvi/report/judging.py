"""Compare predictions with observations, and with a baseline that ignores the columns."""

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np

from gfsvi import metrics
from gfsvi.auto.coverage import are_inside, independent_rows
from gfsvi.predictives import CategoricalPredictive, NormalPredictive
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.report.case import Case, intervals
from gfsvi.report.evidence import (
    ClassificationResult,
    Effect,
    RegressionOutput,
    ReliabilityBin,
    Score,
)
from gfsvi.report.predictions import HALF_WIDTH_95, by_output

MAX_OUTPUTS = 4
LEVELS = np.append(np.arange(0.05, 1, 0.05), 0.99)
_NUM_BINS = 10

_MEDIAN = "half of the rows have a smaller error; smaller is better"
_RMSE = "gives large errors more weight; smaller is better"
_COVERAGE = "share of rows inside their interval; should be 95 %"
_CRPS = "distance between the predicted distribution and the observed value; smaller is better"
_DENSITY = "log of the predicted density at the observed value; larger is better"
_ACCURACY = "share of rows classified correctly; larger is better"
_GAP = "average difference between confidence and accuracy; smaller is better"
_LOG_PROBABILITY = "log of the predicted probability of the true class; closer to 0 is better"


class Bounded(NamedTuple):
    """Predictions of one output and the ends of their 95 % intervals, (row,)."""

    mean: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


def regression_outputs(
    case: Case, effects: tuple[tuple[Effect, ...], ...]
) -> tuple[tuple[RegressionOutput, ...], tuple[Score, ...]]:
    """Judge each of the first few outputs, and all outputs jointly."""
    rows = case.judged
    predictive = cast(AbstractRealPredictive, case.predictions)
    baseline = _baseline(case, len(rows))
    inside = are_inside(predictive, case.y[rows], LEVELS)
    outputs = tuple(
        _output(case, predictive, inside, effects[k], k)
        for k in range(min(len(case.targets), MAX_OUTPUTS))
    )
    actual = case.y[rows]
    joint = tuple(
        Score(name, meaning, metric(predictive, actual), metric(baseline, actual))
        for name, meaning, metric in (
            ("Continuous ranked probability score", _CRPS, metrics.crps),
            ("Log predictive density", _DENSITY, metrics.log_predictive_density),
        )
    )
    return outputs, joint


def _baseline(case: Case, num_rows: int) -> NormalPredictive:
    """Predict the mean of the training rows for every row, with their variance."""
    observed = case.y[case.trained]
    mean, variance = np.mean(observed, axis=0), np.var(observed, axis=0)
    shape = (num_rows, *np.shape(mean))
    everywhere = np.broadcast_to(mean, shape).copy()
    return NormalPredictive(everywhere, np.zeros(shape), np.broadcast_to(variance, shape).copy())


def _output(
    case: Case,
    predictive: AbstractRealPredictive,
    inside: np.ndarray,
    effects: tuple[Effect, ...],
    k: int,
) -> RegressionOutput:
    actual = by_output(case.y[case.judged])[:, k]
    low, high = (by_output(end)[:, k] for end in intervals(predictive))
    mean, noise = by_output(predictive.mean)[:, k], by_output(predictive.aleatoric_std)[:, k]
    model = Bounded(mean, low, high)
    return RegressionOutput(
        name=case.targets[k],
        actual=actual,
        predicted=mean,
        lower=model.lower,
        upper=model.upper,
        levels=LEVELS,
        coverages=np.mean(inside[..., k], axis=1),
        scores=_output_scores(actual, model, _bounded_baseline(case, k)),
        effects=effects,
        explained_share=_share(float(np.var(mean)), float(np.mean(noise**2))),
        noise=float(np.sqrt(np.mean(noise**2))),
        independent_rows=float(independent_rows(inside)[k])
        if case.judged_on == "future"
        else math.inf,
    )


def _bounded_baseline(case: Case, k: int) -> Bounded:
    trained = by_output(case.y[case.trained])[:, k]
    mean, width = np.mean(trained), HALF_WIDTH_95 * np.std(trained)
    values = (mean, mean - width, mean + width)
    return Bounded(*(np.full(len(case.judged), value) for value in values))


def _share(signal: float, noise: float) -> float:
    return signal / max(signal + noise, float(np.finfo(np.float64).tiny))


def _output_scores(actual: np.ndarray, model: Bounded, baseline: Bounded) -> tuple[Score, ...]:
    def median(predicted: Bounded) -> float:
        return float(np.median(np.abs(actual - predicted.mean)))

    def root_mean_square(predicted: Bounded) -> float:
        return float(np.sqrt(np.mean(np.square(actual - predicted.mean))))

    def covered(predicted: Bounded) -> float:
        return float(np.mean((predicted.lower <= actual) & (actual <= predicted.upper)))

    def score(
        name: str, meaning: str, measure: Callable[[Bounded], float], is_share: bool = False
    ) -> Score:
        return Score(name, meaning, measure(model), measure(baseline), is_share)

    return (
        score("Median absolute error", _MEDIAN, median),
        score("Root mean squared error", _RMSE, root_mean_square),
        score("Coverage of 95 % intervals", _COVERAGE, covered, is_share=True),
    )


def classification_result(case: Case, effects: tuple[Effect, ...]) -> ClassificationResult:
    """Judge the predicted classes and their probabilities."""
    rows = case.judged
    predictive = cast(CategoricalPredictive, case.predictions)
    actual, num_classes = case.y[rows].astype(int), len(case.classes)
    confusion = np.zeros((num_classes, num_classes), int)
    np.add.at(confusion, (actual, np.asarray(predictive.predicted)), 1)
    entropy = float(np.mean(predictive.entropy))
    return ClassificationResult(
        classes=case.classes,
        confusion=confusion,
        bins=_reliability(np.asarray(predictive.probabilities), actual),
        scores=_class_scores(case, predictive, actual),
        effects=effects,
        learnable_share=float(np.mean(predictive.mutual_information)) / max(entropy, 1e-12),
    )


def _class_scores(
    case: Case, predictive: CategoricalPredictive, actual: np.ndarray
) -> tuple[Score, ...]:
    counts = np.bincount(case.y[case.trained].astype(int), minlength=len(case.classes))
    # Half a row per class is added, so that a class unseen in training is not impossible.
    frequencies = (counts + 0.5) / np.sum(counts + 0.5)
    shape = (1, len(actual), len(counts))
    baseline = CategoricalPredictive(np.broadcast_to(np.log(frequencies), shape).copy())
    return tuple(
        Score(name, meaning, metric(predictive, actual), metric(baseline, actual), is_share)
        for name, meaning, metric, is_share in (
            ("Accuracy", _ACCURACY, metrics.accuracy, True),
            ("Calibration gap", _GAP, metrics.expected_calibration_error, True),
            ("Log probability", _LOG_PROBABILITY, metrics.log_predictive_density, False),
        )
    )


def _reliability(probabilities: np.ndarray, actual: np.ndarray) -> tuple[ReliabilityBin, ...]:
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == actual
    bins = np.clip((confidence * _NUM_BINS).astype(int), 0, _NUM_BINS - 1)
    return tuple(
        ReliabilityBin(
            float(confidence[bins == b].mean()),
            float(correct[bins == b].mean()),
            int(sum(bins == b)),
        )
        for b in np.unique(bins)
    )
