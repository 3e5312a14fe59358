"""Suggest which rows to measure next."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from gfsvi.acquisition.base import AbstractAcquisition, State
from gfsvi.acquisition.confidence import Confidence
from gfsvi.acquisition.improvement import Improvement
from gfsvi.acquisition.information import Information
from gfsvi.acquisition.pool import Pool
from gfsvi.acquisition.search import best_of_pool, best_of_space
from gfsvi.acquisition.space import Space
from gfsvi.acquisition.surrogate import Goal, Surrogate
from gfsvi.acquisition.thompson import Thompson
from gfsvi.acquisition.uncertainty import Uncertainty
from gfsvi.acquisition.words import reason
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.novelty import Novelty

ACQUISITIONS: dict[str, type[AbstractAcquisition]] = {
    "improvement": Improvement,
    "confidence": Confidence,
    "thompson": Thompson,
    "information": Information,
    "uncertainty": Uncertainty,
}


@dataclasses.dataclass(frozen=True)
class Suggestions:
    """Rows to measure next, and why; arrays have one entry per row.

    Args:
        rows: Their features, (row, feature).
        columns: Their columns as users write them; for a pool, none.
        places: For a pool, where the rows are in it.
        mean: What is expected there.
        std: The standard deviation of an observation there.
        interval: The ends of the interval that contains an observation.
        chance: The probability that the function is better there than at the best row so far.
        novelty: How unlike the rows so far they are, from 0 to 1.
        best: The mean at the best row so far.
        reasons: A sentence for each row.
    """

    rows: np.ndarray
    columns: dict[str, np.ndarray]
    places: np.ndarray | None
    mean: np.ndarray
    std: np.ndarray
    interval: tuple[np.ndarray, np.ndarray]
    chance: np.ndarray
    novelty: np.ndarray
    best: float
    reasons: tuple[str, ...]


def suggest(
    model: Fitted | Any,
    candidates: Mapping[str, Any] | ArrayLike | None = None,
    *,
    batch: int = 1,
    by: str | AbstractAcquisition = "improvement",
    goal: Goal = "max",
    measured: ArrayLike | None = None,
    seed: int = 0,
) -> Suggestions:
    """Which rows to measure next, as a batch that is chosen together.

    Args:
        model: A fitted estimator, or a `Fitted`, of one column of numbers.
        candidates: Bounds of columns by name, as `Space.of` takes them, where columns without
            bounds stay within the rows of the fit; or a table or array of rows to choose from.
        batch: How many rows.
        by: "improvement", "confidence", "thompson", "information", "uncertainty", or an object of
            `gfsvi.acquisition`.
        goal: "max" or "min": whether large or small observations are good.
        measured: The rows that were measured; by default those that the fit remembers, which are
            all of them up to a thousand.
        seed: Determines all random numbers.
    """
    fitted: Fitted = getattr(model, "fitted_", model)
    surrogate, acquisition = Surrogate(fitted, goal), _acquisition(by)
    known = known_rows(fitted) if measured is None else fitted.rows(measured)
    random = np.random.default_rng(seed)
    best = float(np.max(surrogate.marginals(known)[0]))
    source = _source(fitted, known, candidates)
    rows, places = np.zeros((0, known.shape[1])), []
    for _ in range(batch):
        state = State(surrogate, best, rows, random)
        scores = acquisition.scores(state)
        if isinstance(source, Space):
            places.append(best_of_space(source, known, state, scores))
            fresh = source.rows(places[-1][None])
        else:
            places.append(best_of_pool(source, known, state, scores))
            fresh = source.rows[places[-1]][None]
        rows = np.concatenate([rows, fresh])
    columns = source.written(np.stack(places)) if isinstance(source, Space) else {}
    chosen = None if isinstance(source, Space) else np.array(places)
    return _described(surrogate, acquisition, best, rows, columns, chosen)


def _source(
    fitted: Fitted, known: np.ndarray, candidates: Mapping[str, Any] | ArrayLike | None
) -> Space | Pool:
    if candidates is None or isinstance(candidates, Mapping):
        return Space.of(fitted, known, candidates or {})
    return Pool(fitted.rows(candidates))


def known_rows(fitted: Fitted) -> np.ndarray:
    """The features of the rows that a fit remembers."""
    measure = fitted.novelty_measure
    if not isinstance(measure, Novelty):
        raise ValueError(
            "suggesting expects a fit that remembers its rows, or the rows themselves; got a fit "
            "without them. Pass the table of measured rows."
        )
    return np.asarray(measure.process.x, np.float64) * fitted.input_spread + fitted.input_centre


def _described(
    surrogate: Surrogate,
    acquisition: AbstractAcquisition,
    best: float,
    rows: np.ndarray,
    columns: dict[str, np.ndarray],
    places: np.ndarray | None,
) -> Suggestions:
    fitted = surrogate.fitted
    means, deviations = surrogate.marginals(rows)
    chance = special.ndtr((means - best) / np.maximum(deviations, np.finfo(float).tiny))
    std = np.sqrt(deviations**2 + surrogate.noise(rows))
    lower, upper = fitted.interval(rows)
    novelty, mean = fitted.novelty(rows), surrogate.sign * means
    parts = zip(mean, std, chance, novelty, strict=True)
    reasons = [
        reason(acquisition, number, surrogate.sign * best, surrogate.goal, *part)
        for number, part in enumerate(parts)
    ]
    return Suggestions(
        rows,
        columns,
        places,
        mean,
        std,
        (np.ravel(lower), np.ravel(upper)),
        chance,
        novelty,
        surrogate.sign * best,
        tuple(reasons),
    )


def _acquisition(by: str | AbstractAcquisition) -> AbstractAcquisition:
    if isinstance(by, AbstractAcquisition):
        return by
    if by not in ACQUISITIONS:
        names = ", ".join(ACQUISITIONS)
        raise ValueError(f"`by` expects one of {names}; got {by!r}. Choose one of them.")
    return ACQUISITIONS[by]()
