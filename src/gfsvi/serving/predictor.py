"""A saved model that predicts rows of a table."""

import dataclasses
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from gfsvi.numerics.threads import one_thread
from gfsvi.plain.conformal import interval_given, nominal_levels
from gfsvi.serving.functions import Novelty, Posterior, posterior_of
from gfsvi.serving.observations import Observations, Prediction
from gfsvi.serving.parts import NotServed, Part, part_maker
from gfsvi.storage.container import FORMAT, MALFORMED, opened
from gfsvi.storage.decoding import decode, maker_of
from gfsvi.tables import Preparation

if TYPE_CHECKING:
    import pandas

MAX_ROWS = 1024
"""Rows at a time, which bounds memory."""
LEVEL = 0.95
"""The coverage of intervals where a file names none."""
_OF_TABLES = ("column:", "preparation:")
"""Tags of classes that do not need JAX."""


@dataclasses.dataclass(frozen=True)
class Predictor:
    """What `auto.Fitted` predicts for a table, without JAX.

    Args:
        posterior: The function on the standardised scale.
        observations: How observations scatter around it.
        novelty_measure: How unlike the training rows a row is.
        preparation: How a table becomes rows of numbers.
        input_centre: What is subtracted from every row.
        input_spread: What every row is then divided by.
        level: The coverage of intervals unless another is asked for.
        unseen: Surprises of rows and their weights, if these decide on the intervals.
    """

    posterior: Posterior
    observations: Observations
    novelty_measure: Novelty
    preparation: Preparation
    input_centre: np.ndarray | float
    input_spread: np.ndarray | float
    level: float
    unseen: tuple[np.ndarray, np.ndarray] | None

    @classmethod
    @np.errstate(all="ignore")
    def of(cls, fitted: Part) -> "Predictor":
        """The predictor of a fit; raises if NumPy cannot evaluate it."""
        posterior = fitted.expect("fitted:fitted").posterior.expect("model:model")
        if not isinstance(fitted.preparation, Preparation):
            raise NotServed("a fit to arrays")
        made = cls(
            posterior_of(posterior.function, len(fitted.preparation.feature_names)),
            Observations.of(posterior.likelihood, fitted.target),
            Novelty(fitted.novelty_measure),
            fitted.preparation,
            fitted.input_centre,
            fitted.input_spread,
            float(vars(fitted).get("level", LEVEL)),
            _unseen(fitted),
        )
        # Arrays that do not fit together are found out here, and not when rows are predicted.
        zeros = np.zeros((2, len(fitted.preparation.feature_names)))
        rows = made._standardized(zeros)
        if rows.shape != zeros.shape:
            raise NotServed("a scale of other features")
        prediction = made.observations.given(*made.posterior.marginals(rows), rows)
        num_targets = len(fitted.preparation.target)
        expected = (2,) if num_targets == 1 else (2, num_targets)
        if {prediction.mean.shape, *(end.shape for end in prediction.interval(0.5))} != {expected}:
            raise NotServed("other targets")
        numbers = (prediction.mean, prediction.std, made.novelty_measure.at(rows))
        if not all(np.all(np.isfinite(values)) for values in numbers):
            raise NotServed("numbers that are not finite")
        return made

    @property
    def task(self) -> str:
        """Regression: labels are drawn with JAX's random numbers."""
        return "regression"

    @one_thread()
    @np.errstate(all="ignore")
    def predict(self, frame: "pandas.DataFrame | np.ndarray") -> Prediction:
        """The distribution of an observation at each row of a table, or of prepared numbers."""
        rows = self._blocks(frame)
        blocks = [self.posterior.marginals(x) for x in rows]
        mean, variance = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
        return self.observations.given(mean, variance, np.concatenate(rows))

    def interval(self, prediction: Prediction, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends that contain an observation with this probability."""
        if self.unseen is None:
            return prediction.interval(level)
        return interval_given(prediction.quantile, nominal_levels(*self.unseen, level))

    @one_thread()
    @np.errstate(all="ignore")
    def novelty(self, frame: "pandas.DataFrame | np.ndarray") -> np.ndarray:
        """How unlike the training inputs each row is, from 0 (known) to 1 (new)."""
        return np.concatenate([self.novelty_measure.at(x) for x in self._blocks(frame)])

    def _blocks(self, frame: "pandas.DataFrame | np.ndarray") -> list[np.ndarray]:
        x = frame if isinstance(frame, np.ndarray) else self.preparation.inputs(frame)
        x = self._standardized(x)
        return [x[start : start + MAX_ROWS] for start in range(0, len(x), MAX_ROWS)]

    def _standardized(self, x: np.ndarray) -> np.ndarray:
        return (x - self.input_centre) / self.input_spread


@one_thread()
def read_predictor(path: str | PathLike[str]) -> Predictor | None:
    """The predictor of a model file; None if the model needs JAX.

    Raises `ModelFileError` for a file that is not a model; content that is no model, too, gives
    None, because the whole library says best what is wrong with it.
    """
    header, arrays = opened(path)
    if header["format"] != FORMAT:
        return None
    try:
        content = decode(header["content"], arrays, version=FORMAT, maker=_maker, function=str)
        return Predictor.of(content["fitted"])
    except (NotServed, ValueError, *MALFORMED):
        return None


def _unseen(fitted: Part) -> tuple[np.ndarray, np.ndarray] | None:
    """What intervals are to be judged by; older files have no such rows."""
    if vars(fitted).get("conformal", "none") == "none":
        return None
    unseen = fitted.unseen.expect("fitted:unseen_rows")
    return np.asarray(unseen.surprise, np.float64), np.asarray(unseen.weights, np.float64)


def _maker(tag: str) -> Callable[[dict[str, Any]], Any]:
    return maker_of(tag) if tag.startswith(_OF_TABLES) else part_maker(tag)
