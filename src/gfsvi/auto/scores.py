"""Score predictions against observed targets, under the names that `gfsvi evaluate` prints."""

import dataclasses
from collections.abc import Sequence
from typing import cast

import numpy as np

from gfsvi import metrics
from gfsvi.auto.targets import Labels, Numbers
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.predictives.normal import NormalPredictive
from gfsvi.tables import Label

CRPS_SAMPLES = 1000
"""Draws per row that the CRPS of other than normal predictions is estimated by."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """When the second of two classes, or another, is predicted: at this probability and above."""

    positive: int
    threshold: float = 0.5

    @classmethod
    def of(
        cls, classes: Sequence[Label], positive: str | None, threshold: float | None
    ) -> "Decision":
        """The decision between two classes, the second of which is positive unless one is named."""
        names = [str(label) for label in classes]
        if len(names) != 2:
            raise ValueError(
                f"a threshold expects two classes; got {len(names)}. "
                "Leave it out to predict the most probable class."
            )
        if positive is not None and positive not in names:
            raise ValueError(
                f"the positive class is expected to be {' or '.join(map(repr, names))}; "
                f"got {positive!r}. Choose one of them."
            )
        number = 1 if positive is None else names.index(positive)
        return cls(number, 0.5 if threshold is None else threshold)

    def predicted(self, predictive: CategoricalPredictive) -> np.ndarray:
        """The class that is predicted at each row."""
        is_positive = np.asarray(predictive.probabilities)[:, self.positive] >= self.threshold
        return np.where(is_positive, self.positive, 1 - self.positive)


def evaluated(
    predictive: AbstractPredictive,
    target: Numbers | Labels,
    y: np.ndarray,
    decision: Decision | None = None,
    *,
    guess: tuple[np.ndarray, np.ndarray] | None = None,
    crps_samples: int = CRPS_SAMPLES,
) -> dict[str, float]:
    """Scores on the scale of the target and, for numbers, on the standardised scale too.

    Those that end in "_baseline" are of a guess that ignores all inputs: the mean and spread, or
    the class frequencies, of these very targets, or for numbers the mean and spread in `guess`.
    """
    counted = {"num_rows": len(y)}
    if isinstance(target, Labels):
        labels = cast(CategoricalPredictive, predictive)
        if decision is None and len(target.classes) == 2:
            decision = Decision(1)
        frequencies = np.bincount(y, minlength=len(target.classes)) / len(y)
        with np.errstate(divide="ignore"):
            log_frequencies = np.maximum(np.log(frequencies), np.log(1e-12))
        baseline = np.broadcast_to(log_frequencies, (1, len(y), len(frequencies)))
        return counted | _compared(
            _of_labels(labels, y, decision),
            _of_labels(CategoricalPredictive(baseline), y, decision),
        )
    real = cast(AbstractRealPredictive, predictive)
    spread, centre = target.spread, target.centre
    scaled = real.rescaled(1 / spread, -centre / spread)
    standardized = _of_numbers(scaled, target.standardized(y), crps_samples)
    return (
        counted
        | _of_numbers(real, y, crps_samples)
        | {f"{name}_standardized": value for name, value in standardized.items()}
        | _compared({}, _of_numbers(_guess(y, real, guess), y))
    )


def _compared(scores: dict[str, float], baseline: dict[str, float]) -> dict[str, float]:
    return scores | {f"{name}_baseline": value for name, value in baseline.items()}


def _guess(
    y: np.ndarray, like: AbstractRealPredictive, given: tuple[np.ndarray, np.ndarray] | None
) -> NormalPredictive:
    """The mean and spread of these targets, or those given, at every row."""
    y = np.reshape(np.asarray(y, np.float64), np.shape(like.mean))
    mean, spread = (np.mean(y, axis=0), np.std(y, axis=0)) if given is None else given
    variance = np.where(spread > 0, spread, 1e-12) ** 2
    whole = np.zeros_like(y)
    return NormalPredictive(whole + mean, whole, whole + variance)


def _of_numbers(
    predictive: AbstractRealPredictive, y: np.ndarray, crps_samples: int = CRPS_SAMPLES
) -> dict[str, float]:
    return {
        "log_predictive_density": float(metrics.log_predictive_density(predictive, y)),
        "expected_log_likelihood": float(metrics.expected_log_likelihood(predictive, y)),
        "mse": float(metrics.mse(predictive, y)),
        "coverage": float(metrics.coverage(predictive, y)),
        "crps": float(metrics.crps(predictive, y, num_samples=crps_samples)),
    }


def _of_labels(
    predictive: CategoricalPredictive, y: np.ndarray, decision: Decision | None
) -> dict[str, float]:
    predicted = np.asarray(predictive.predicted)
    positive = None
    if decision is not None:
        predicted, positive = decision.predicted(predictive), decision.positive
    return {
        "log_predictive_density": float(metrics.log_predictive_density(predictive, y)),
        "expected_log_likelihood": float(metrics.expected_log_likelihood(predictive, y)),
        "accuracy": float(np.mean(predicted == y)),
        "ece": float(metrics.expected_calibration_error(predictive, y)),
        "auc": metrics.auc(predictive.probabilities, y, positive),
        "precision": metrics.precision(predicted, y, positive),
        "recall": metrics.recall(predicted, y, positive),
    }
