"""Predictions beside what was observed, and beside a plain guess."""

from typing import Any, NamedTuple

import numpy as np

from gfsvi import metrics
from gfsvi.predictives import CategoricalPredictive, NormalPredictive
from gfsvi.report.case import Case
from gfsvi.report.evidence import (
    ClassificationResult,
    Effect,
    RegressionOutput,
    ReliabilityBin,
    Score,
)

MAX_OUTPUTS = 4
LEVELS = np.append(np.arange(0.05, 1, 0.05), 0.99)
_NUM_BINS = 10
# Half the width of a 95 % interval, in standard deviations of a normal distribution.
_WIDTH = 1.96

_MEDIAN = "half of the rows are off by less; smaller is better"
_RMSE = "the same with large misses weighing more; smaller is better"
_COVERAGE = "share of rows inside their interval; best is 95 %"
_CRPS = "distance between the predicted distribution and what came; smaller is better"
_DENSITY = "log of the probability density given to what came; larger is better"
_ACCURACY = "share of rows called right; larger is better"
_GAP = "how far confidence is from the share that is right; smaller is better"
_LOG_PROBABILITY = "log of the probability given to the true class; closer to 0 is better"


class Bounded(NamedTuple):
    """A prediction and the ends of its 95 % interval."""

    mean: Any
    lower: Any
    upper: Any


def regression_outputs(
    case: Case, effects: tuple[tuple[Effect, ...], ...]
) -> tuple[tuple[RegressionOutput, ...], tuple[Score, ...]]:
    """Each of the first few outputs, and the scores that judge all outputs at once."""
    rows = case.judged
    predictive = case.estimator.predict_distribution(case.x[rows])
    guess = _plain_guess(case, len(rows))
    tails = (1 - LEVELS) / 2
    low, high = np.split(np.asarray(predictive.quantile(np.append(tails, 1 - tails))), 2)
    outputs = tuple(
        _output(case, predictive, (low, high), effects[k], k)
        for k in range(min(len(case.targets), MAX_OUTPUTS))
    )
    actual = case.y[rows]
    joint = tuple(
        Score(name, meaning, metric(predictive, actual), metric(guess, actual))
        for name, meaning, metric in (
            ("Ranked probability score", _CRPS, metrics.crps),
            ("Log predictive density", _DENSITY, metrics.log_predictive_density),
        )
    )
    return outputs, joint


def _plain_guess(case: Case, count: int) -> NormalPredictive:
    """The mean of the training rows everywhere, with their spread."""
    observed = case.y[case.trained]
    mean, variance = np.mean(observed, axis=0), np.var(observed, axis=0)
    shape = (count, *np.shape(mean))
    everywhere = np.broadcast_to(mean, shape).copy()
    return NormalPredictive(everywhere, np.zeros(shape), np.broadcast_to(variance, shape).copy())


def _output(
    case: Case,
    predictive: Any,
    bounds: tuple[np.ndarray, np.ndarray],
    effects: tuple[Effect, ...],
    k: int,
) -> RegressionOutput:
    actual, trained = _column(case.y[case.judged], k), _column(case.y[case.trained], k)
    low, high = (np.stack([_column(bound, k) for bound in side]) for side in bounds)
    mean, noise = _column(predictive.mean, k), _column(predictive.aleatoric_std, k)
    at_95 = int(np.argmin(np.abs(LEVELS - 0.95)))
    half = _WIDTH * np.std(trained)
    plain = Bounded(np.mean(trained), np.mean(trained) - half, np.mean(trained) + half)
    return RegressionOutput(
        name=case.targets[k],
        actual=actual,
        predicted=mean,
        lower=low[at_95],
        upper=high[at_95],
        levels=LEVELS,
        coverages=np.mean((low <= actual) & (actual <= high), axis=1),
        scores=_output_scores(actual, Bounded(mean, low[at_95], high[at_95]), plain),
        effects=effects,
        explained_share=_share(float(np.var(mean)), float(np.mean(noise**2))),
        noise=float(np.sqrt(np.mean(noise**2))),
    )


def _share(signal: float, noise: float) -> float:
    return signal / max(signal + noise, float(np.finfo(np.float64).tiny))


def _output_scores(actual: np.ndarray, model: Bounded, plain: Bounded) -> tuple[Score, ...]:
    def median(predicted: Bounded) -> float:
        return float(np.median(np.abs(actual - predicted.mean)))

    def root_mean_square(predicted: Bounded) -> float:
        return float(np.sqrt(np.mean(np.square(actual - predicted.mean))))

    def covered(predicted: Bounded) -> float:
        return float(np.mean((predicted.lower <= actual) & (actual <= predicted.upper)))

    return (
        Score("Typical error", _MEDIAN, median(model), median(plain)),
        Score("Root mean squared error", _RMSE, root_mean_square(model), root_mean_square(plain)),
        Score("95 % intervals held", _COVERAGE, covered(model), covered(plain), is_share=True),
    )


def classification_result(case: Case, effects: tuple[Effect, ...]) -> ClassificationResult:
    """Labels called, and how often confidence was right."""
    rows = case.judged
    predictive = case.estimator.predict_distribution(case.x[rows])
    actual, num_classes = case.y[rows].astype(int), len(case.classes)
    confusion = np.zeros((num_classes, num_classes), int)
    np.add.at(confusion, (actual, np.asarray(predictive.predicted)), 1)
    entropy = float(np.mean(predictive.entropy))
    return ClassificationResult(
        name=case.targets[0],
        classes=case.classes,
        confusion=confusion,
        bins=_reliability(np.asarray(predictive.probabilities), actual),
        scores=_class_scores(case, predictive, actual),
        effects=effects,
        learnable_share=float(np.mean(predictive.mutual_information)) / max(entropy, 1e-12),
    )


def _class_scores(case: Case, predictive: Any, actual: np.ndarray) -> tuple[Score, ...]:
    counts = np.bincount(case.y[case.trained].astype(int), minlength=len(case.classes))
    # Half a row more for each class, so that one unseen in training is not impossible.
    frequencies = (counts + 0.5) / np.sum(counts + 0.5)
    shape = (1, len(actual), len(counts))
    guess = CategoricalPredictive(np.broadcast_to(np.log(frequencies), shape).copy())
    return tuple(
        Score(name, meaning, metric(predictive, actual), metric(guess, actual), is_share)
        for name, meaning, metric, is_share in (
            ("Called right", _ACCURACY, metrics.accuracy, True),
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


def _column(values: Any, output: int) -> np.ndarray:
    values = np.asarray(values, np.float64)
    return values if values.ndim == 1 else values[:, output]
