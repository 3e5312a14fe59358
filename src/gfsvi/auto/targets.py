"""Targets as a likelihood wants them, and predictions back on the user's scale."""

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from gfsvi import registry
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.warp import Warp

START_NOISE = 0.3
MAX_SHARE_OF_ONE_VALUE = 0.05
"""Where one value is more frequent, the target has no density that a warp could follow."""
MIN_ROWS_TO_WARP = 20
_NOISE_FIELDS = ("noise", "scale")


@dataclasses.dataclass(frozen=True)
class Numbers:
    """Numeric targets, one or several, standardised by their centre and spread."""

    task: ClassVar[str] = "regression"

    centre: Any
    spread: Any

    def standardized(self, y: np.ndarray) -> np.ndarray:
        """Observations on the model's scale."""
        return (y - self.centre) / self.spread

    def on_user_scale(self, predictive: AbstractPredictive) -> AbstractRealPredictive:
        """A predictive on the scale of the user's observations."""
        return cast(AbstractRealPredictive, predictive).rescaled(self.spread, self.centre)


@dataclasses.dataclass(frozen=True)
class Labels:
    """Labels, as positions among the classes."""

    task: ClassVar[str] = "classification"

    classes: tuple[Any, ...]

    def on_user_scale(self, predictive: AbstractPredictive) -> AbstractPredictive:
        """A predictive of class numbers, which is what the user is given too."""
        return predictive


class Observed(NamedTuple):
    """Observations on the model's scale, their likelihood, and the way back."""

    y: np.ndarray
    likelihood: AbstractLikelihood
    target: Numbers | Labels


def observed_numbers(
    y: np.ndarray, likelihood: str | AbstractLikelihood = "auto", weights: np.ndarray | None = None
) -> Observed:
    """Numbers, (row,) or (row, target), standardised where the likelihood adapts to their scale."""
    centre = np.average(y, axis=0, weights=weights)
    spread = np.sqrt(np.average((y - centre) ** 2, axis=0, weights=weights))
    target = Numbers(centre, np.where(spread > 0, spread, 1.0)[()])
    if likelihood == "auto":
        standardized = target.standardized(y)
        return Observed(standardized, _auto(standardized), target)
    chosen = _named(likelihood) if isinstance(likelihood, str) else likelihood
    if not chosen.rescalable:
        target = Numbers(np.zeros_like(centre), np.ones_like(spread))
    standardized = target.standardized(y)
    if isinstance(likelihood, str):
        chosen = _started(chosen, standardized)
    chosen.check(standardized)
    return Observed(standardized, chosen, target)


def observed_labels(y: np.ndarray, likelihood: str | AbstractLikelihood = "auto") -> Observed:
    """Labels as positions among the classes that they show."""
    classes, numbers = np.unique(y, return_inverse=True)
    labels = classes.tolist()
    if len(labels) < 2:
        raise ValueError(
            f"expected at least two classes; got one class, {labels[0]!r}. "
            "Add rows of another class."
        )
    return observed_numbers_of_classes(numbers, labels, likelihood)


def observed_numbers_of_classes(
    numbers: np.ndarray, labels: Sequence[Any], likelihood: str | AbstractLikelihood = "auto"
) -> Observed:
    """Labels that are positions among known classes already."""
    if likelihood == "auto" or likelihood == "categorical":
        chosen: AbstractLikelihood = Categorical(num_classes=len(labels))
    else:
        chosen = _named(likelihood) if isinstance(likelihood, str) else likelihood
    chosen.check(numbers)
    return Observed(numbers, chosen, Labels(tuple(labels)))


def _auto(y: np.ndarray) -> AbstractLikelihood:
    columns = y.reshape(len(y), -1)
    shares = [np.unique(column, return_counts=True)[1].max() / len(y) for column in columns.T]
    noise = np.full(columns.shape[1], START_NOISE)
    if len(y) < MIN_ROWS_TO_WARP or max(shares) > MAX_SHARE_OF_ONE_VALUE:
        return Normal(noise)
    return WarpedNormal(noise, Warp.fitted(y))


def _named(name: str) -> AbstractLikelihood:
    try:
        return registry.find("likelihoods", name)()
    except TypeError:
        raise ValueError(
            f"likelihood expects a name of a likelihood with defaults; {name!r} has none. "
            "Build it in Python and pass the object."
        ) from None


def _started(likelihood: AbstractLikelihood, y: np.ndarray) -> AbstractLikelihood:
    """Noise to start from, for each of the targets, and a warp that fits them."""
    size = y.reshape(len(y), -1).shape[1]
    fields = {field.name for field in dataclasses.fields(likelihood)}
    changes: dict[str, Any] = {
        name: np.full(size, START_NOISE) for name in _NOISE_FIELDS if name in fields
    }
    if "warp" in fields:
        changes["warp"] = Warp.fitted(y)
    return dataclasses.replace(likelihood, **changes)
