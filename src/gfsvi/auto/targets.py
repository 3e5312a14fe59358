"""Convert targets to the scale of a likelihood, and predictions back to the user's scale."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, cast

import numpy as np

from gfsvi import registry
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLabelLikelihood, AbstractLikelihood
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.likelihoods.negative_binomial import NegativeBinomial
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.poisson import Poisson
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.warp import AbstractWarp, Bounded, Unwarped, Warp
from gfsvi.tables import Label

START_NOISE = 0.3
MAX_SHARE_OF_ONE_VALUE = 0.05
"""If one value is more frequent, the target has no density that a warp can follow."""
OVERDISPERSED, UNDERDISPERSED = 1.3, 0.8
"""The variance of counts over their mean above which, and below which, they are not Poisson."""
LARGEST_MEDIAN_COUNT = 20
"""Larger counts are as good as continuous."""
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
    y: np.ndarray,
    likelihood: str | AbstractLikelihood = "auto",
    weights: np.ndarray | None = None,
    *,
    conjugate: bool = False,
    adaptive: bool = False,
) -> Observed:
    """Numbers, (row,) or (row, target), standardised if the likelihood adapts to their scale.

    "auto" chooses a likelihood of counts for counts, unless it has to be `conjugate`; for other
    numbers, one whose noise and tails adapt if the method can choose them (`adaptive`).
    """
    centre = np.average(y, axis=0, weights=weights)
    spread = np.sqrt(np.average((y - centre) ** 2, axis=0, weights=weights))
    target = Numbers(centre, np.where(spread > 0, spread, 1.0)[()])
    if isinstance(likelihood, str):
        chosen = _named(_auto(y, weights, conjugate) if likelihood == "auto" else likelihood)
    else:
        chosen = likelihood
    _check_task(chosen, "regression")
    if not chosen.rescalable:
        target = Numbers(np.zeros_like(centre), np.ones_like(spread))
    standardized = target.standardized(y)
    chosen.check(standardized)
    if isinstance(likelihood, str):
        chosen = _started(chosen, standardized, weights)
        if isinstance(chosen, WarpedNormal) or likelihood == "auto":
            chosen = _bounded(chosen, y, target)
        if adaptive and likelihood == "auto":
            chosen = _adaptive(chosen)
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


def _auto(y: np.ndarray, weights: np.ndarray | None, conjugate: bool) -> str:
    """Choose counts, or a warp if the targets have a density that it can follow."""
    columns = y.reshape(len(y), -1).T
    if not conjugate and all(map(are_counts, columns)):
        ratios = [np.var(column) / np.mean(column) for column in columns]
        return "negative_binomial" if max(ratios) > OVERDISPERSED else "poisson"
    total = len(y) if weights is None else np.sum(weights)
    counts = [np.bincount(np.unique(column, return_inverse=True)[1], weights) for column in columns]
    share = max(count.max() for count in counts) / total
    return "normal" if share > MAX_SHARE_OF_ONE_VALUE else "warped_normal"


def are_counts(column: np.ndarray) -> bool:
    """Whether numbers look like small counts of events.

    Counts vary at least as much as those of independent events, whose variance is their mean;
    grades and ages do not, or do not begin at 0 or 1.
    """
    if np.any(column < 0) or np.any(column != np.round(column)) or len(np.unique(column)) < 3:
        return False
    is_small = np.min(column) <= 1 and np.median(column) <= LARGEST_MEDIAN_COUNT
    return bool(is_small and np.var(column) >= UNDERDISPERSED * np.mean(column))


def bounds_of(column: np.ndarray) -> tuple[float, float]:
    """The interval that such numbers do not leave: amounts are not negative, shares at most 1.

    Zero bounds nothing that is further away from it than it varies.
    """
    if np.min(column) < 0 or np.min(column) > np.ptp(column):
        return -np.inf, np.inf
    return 0.0, 1.0 if np.max(column) <= 1 else np.inf


def _bounded(likelihood: AbstractLikelihood, y: np.ndarray, target: Numbers) -> AbstractLikelihood:
    """The likelihood, normal on some scale, with predictions that stay within their bounds."""
    bounds = np.array([bounds_of(column) for column in y.reshape(len(y), -1).T])
    if not isinstance(likelihood, Normal | WarpedNormal) or not np.isfinite(bounds).any():
        return likelihood
    warp = likelihood.warp if isinstance(likelihood, WarpedNormal) else Unwarped()
    least, most = (tuple(map(float, np.ravel(target.standardized(ends)))) for ends in bounds.T)
    return WarpedNormal(likelihood.noise, Bounded(warp, least, most))


def _adaptive(likelihood: AbstractLikelihood) -> AbstractLikelihood:
    """The likelihood with noise and tails that adapt, if it is normal on some scale."""
    if isinstance(likelihood, WarpedNormal):
        return AdaptiveNormal(likelihood.noise, likelihood.warp)
    return AdaptiveNormal(likelihood.noise) if isinstance(likelihood, Normal) else likelihood


def limits_in_words(likelihood: AbstractLikelihood, target: Numbers | Labels) -> str | None:
    """Which predictions the likelihood excludes, in a sentence."""
    if isinstance(likelihood, Poisson | NegativeBinomial):
        return (
            "The target is a count: predictions are never negative, intervals end at whole numbers."
        )
    warp = getattr(likelihood, "warp", None)
    if not isinstance(warp, Bounded) or not isinstance(target, Numbers):
        return None
    if np.isfinite(warp.most).all():
        return "Observed values are between 0 and 1, and so are predictions."
    return "Observed values are never negative, and neither are predictions."


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
    """The likelihood with initial noise and dispersion by target, and a warp fitted to them."""
    size = y.reshape(len(y), -1).shape[1]
    fields = {field.name for field in dataclasses.fields(likelihood)}
    changes: dict[str, np.ndarray | AbstractWarp] = {
        name: np.full(size, START_NOISE) for name in _NOISE_FIELDS if name in fields
    }
    if "warp" in fields:
        changes["warp"] = Warp.fitted(y, weights=weights)
    if "dispersion" in fields:
        columns = y.reshape(len(y), -1)
        mean, variance = np.mean(columns, axis=0), np.var(columns, axis=0)
        changes["dispersion"] = np.maximum((variance - mean) / np.maximum(mean, 0.1) ** 2, 0.05)
    return dataclasses.replace(likelihood, **changes)
