"""Convert targets to the scale of a likelihood, and predictions back to the user's scale."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, cast

import numpy as np

from gfsvi import registry
from gfsvi.likelihoods.base import AbstractLabelLikelihood, AbstractLikelihood
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.warp import Warp
from gfsvi.tables import Label

START_NOISE = 0.3
MAX_SHARE_OF_ONE_VALUE = 0.05
"""If one value is more frequent, the target has no density that a warp can follow."""
_NOISE_FIELDS = ("noise", "scale")


@dataclasses.dataclass(frozen=True)
class Numbers:
    """Numeric targets, one or several, with their centre and spread."""

    task: ClassVar[str] = "regression"

    centre: np.ndarray | float
    spread: np.ndarray | float

    def standardized(self, y: np.ndarray) -> np.ndarray:
        """Convert observations to the model's scale."""
        return (y - self.centre) / self.spread

    def on_user_scale(self, predictive: AbstractPredictive) -> AbstractRealPredictive:
        """Convert a predictive to the user's scale."""
        return cast(AbstractRealPredictive, predictive).rescaled(self.spread, self.centre)


@dataclasses.dataclass(frozen=True)
class Labels:
    """Labels, represented by their positions among the classes."""

    task: ClassVar[str] = "classification"

    classes: tuple[Label, ...]

    def on_user_scale(self, predictive: AbstractPredictive) -> AbstractPredictive:
        """Return the predictive as it is: it predicts class numbers."""
        return predictive


class Observed(NamedTuple):
    """Observations on the model's scale, their likelihood, and the conversion back."""

    y: np.ndarray
    likelihood: AbstractLikelihood
    target: Numbers | Labels


def observed_numbers(
    y: np.ndarray, likelihood: str | AbstractLikelihood = "auto", weights: np.ndarray | None = None
) -> Observed:
    """Numbers, (row,) or (row, target), standardised if the likelihood adapts to their scale."""
    centre = np.average(y, axis=0, weights=weights)
    spread = np.sqrt(np.average((y - centre) ** 2, axis=0, weights=weights))
    target = Numbers(centre, np.where(spread > 0, spread, 1.0)[()])
    if isinstance(likelihood, str):
        likelihood = _auto(y, weights) if likelihood == "auto" else likelihood
    chosen = _named(likelihood) if isinstance(likelihood, str) else likelihood
    _check_task(chosen, "regression")
    if not chosen.rescalable:
        target = Numbers(np.zeros_like(centre), np.ones_like(spread))
    standardized = target.standardized(y)
    chosen.check(standardized)
    if isinstance(likelihood, str):
        chosen = _started(chosen, standardized, weights)
    return Observed(standardized, chosen, target)


def observed_labels(y: np.ndarray, likelihood: str | AbstractLikelihood = "auto") -> Observed:
    """Labels, with the classes that occur among them."""
    classes, numbers = np.unique(y, return_inverse=True)
    labels = classes.tolist()
    if len(labels) < 2:
        raise ValueError(
            f"expected at least two classes; got one class, {labels[0]!r}. "
            "Add rows of another class."
        )
    return observed_numbers_of_classes(numbers, labels, likelihood)


def observed_numbers_of_classes(
    numbers: np.ndarray, labels: Sequence[Label], likelihood: str | AbstractLikelihood = "auto"
) -> Observed:
    """Labels that are given as positions among known classes."""
    chosen = likelihood
    if isinstance(chosen, str):
        chosen = Categorical() if chosen == "auto" else _named(chosen)
    _check_task(chosen, "classification")
    if isinstance(chosen, Categorical) and chosen.num_classes is None:
        chosen = dataclasses.replace(chosen, num_classes=len(labels))
    chosen.check(numbers)
    return Observed(numbers, chosen, Labels(tuple(labels)))


def task_of(likelihood: str) -> Literal["regression", "classification"] | None:
    """The task that the likelihood of this name is for; None for "auto"."""
    if likelihood == "auto":
        return None
    kind = registry.find("likelihoods", likelihood)
    return "classification" if issubclass(kind, AbstractLabelLikelihood) else "regression"


def _check_task(likelihood: AbstractLikelihood, task: str) -> None:
    wanted = "labels" if task == "classification" else "numbers"
    found = "labels" if isinstance(likelihood, AbstractLabelLikelihood) else "numbers"
    if wanted != found:
        raise ValueError(
            f"{task} expects a likelihood of {wanted}; got {type(likelihood).__name__}, which is "
            f"one of {found}. `gfsvi list likelihoods` lists all of them."
        )


def _auto(y: np.ndarray, weights: np.ndarray | None) -> str:
    """Choose a warp if the targets have a density that it can follow."""
    columns = y.reshape(len(y), -1)
    total = len(y) if weights is None else np.sum(weights)
    counts = [
        np.bincount(np.unique(column, return_inverse=True)[1], weights) for column in columns.T
    ]
    share = max(count.max() for count in counts) / total
    return "normal" if share > MAX_SHARE_OF_ONE_VALUE else "warped_normal"


def _named(name: str) -> AbstractLikelihood:
    try:
        return registry.find("likelihoods", name)()
    except TypeError:
        raise ValueError(
            f"likelihood expects the name of a likelihood with defaults; {name!r} has none. "
            "Build it in Python and pass the object."
        ) from None


def _started(
    likelihood: AbstractLikelihood, y: np.ndarray, weights: np.ndarray | None
) -> AbstractLikelihood:
    """The likelihood with initial noise, one per target, and a warp fitted to the targets."""
    size = y.reshape(len(y), -1).shape[1]
    fields = {field.name for field in dataclasses.fields(likelihood)}
    changes: dict[str, np.ndarray | Warp] = {
        name: np.full(size, START_NOISE) for name in _NOISE_FIELDS if name in fields
    }
    if "warp" in fields:
        changes["warp"] = Warp.fitted(y, weights=weights)
    return dataclasses.replace(likelihood, **changes)
