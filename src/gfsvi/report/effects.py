"""Effects: predictions while one column varies and the others keep a typical value."""

import dataclasses

import numpy as np

from gfsvi.predictives import CategoricalPredictive
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.report.case import Case, Column, intervals
from gfsvi.report.evidence import Effect, Line
from gfsvi.report.formatting import cell
from gfsvi.report.predictions import HALF_WIDTH_95, by_output

MAX_EFFECTS = 9
MAX_LEVELS = 8
MAX_LINES = 3
_NUM_STEPS = 41


@dataclasses.dataclass(frozen=True)
class Walk:
    """Inputs that vary along one column, and the positions where they are drawn."""

    column: Column
    inputs: np.ndarray
    positions: np.ndarray
    levels: tuple[str, ...] | None
    deciles: np.ndarray
    is_whole: bool = False


def effects_of_columns(case: Case, columns: tuple[Column, ...]) -> tuple[tuple[Effect, ...], ...]:
    """Compute the effects of the first few columns, as one tuple per output."""
    typical = _typical_input(case)
    walks = [_walk(case.x, column, typical) for column in columns[:MAX_EFFECTS]]
    predictive = case.fitted.predict(np.concatenate([w.inputs for w in walks]))
    ends = np.cumsum([len(walk.positions) for walk in walks])
    rows = np.split(np.arange(ends[-1]), ends[:-1])
    if case.is_classification:
        chosen = _most_affected_classes(case, predictive, rows)
        lines = [_class_lines(case, predictive, part, chosen) for part in rows]
        return (tuple(map(_effect, walks, lines)),)
    bands = _real_bands(predictive)
    return tuple(
        tuple(
            _effect(w, (_real_line(bands, part, k),)) for w, part in zip(walks, rows, strict=True)
        )
        for k in range(len(case.targets))
    )


def _effect(walk: Walk, lines: tuple[Line, ...]) -> Effect:
    column = walk.column
    return Effect(
        column.name,
        walk.positions,
        walk.levels,
        walk.deciles,
        lines,
        column.first_day,
        walk.is_whole,
    )


def _typical_input(case: Case) -> np.ndarray:
    """Return the median of each number and the most frequent level of each text column."""
    typical = np.median(case.x, axis=0)
    for column in case.columns:
        if column.levels is not None:
            block = list(column.features)
            typical[block] = 0.0
            typical[block[int(np.argmax(case.x[:, block].sum(axis=0)))]] = 1.0
    return typical


def _walk(x: np.ndarray, column: Column, typical: np.ndarray) -> Walk:
    return _level_walk(x, column, typical) if column.levels else _number_walk(x, column, typical)


def _level_walk(x: np.ndarray, column: Column, typical: np.ndarray) -> Walk:
    block = list(column.features)
    order = np.argsort(-x[:, block].sum(axis=0), kind="stable")[:MAX_LEVELS]
    inputs = np.tile(typical, (len(order), 1))
    inputs[:, block] = np.eye(len(block))[order]
    levels = tuple((column.levels or ())[i] for i in order)
    return Walk(column, inputs, np.arange(len(order), dtype=np.float64), levels, np.zeros(0))


def _number_walk(x: np.ndarray, column: Column, typical: np.ndarray) -> Walk:
    # The feature after the number only marks where it was missing.
    values = x[:, column.features[0]]
    distinct = np.unique(values)
    # Only a few rows are near the ends of the range, so effects there are rarely relevant.
    low, high = np.quantile(values, [0.01, 0.99])
    few = len(distinct) <= MAX_LEVELS and column.first_day is None
    grid = distinct if few else np.linspace(low, high, _NUM_STEPS)
    inputs = np.tile(typical, (len(grid), 1))
    inputs[:, column.features[0]] = grid
    inputs[:, list(column.features[1:])] = 0.0
    deciles = np.quantile(values, np.arange(0.1, 1, 0.1))
    is_whole = bool(np.all(distinct == np.round(distinct)))
    if few:  # flags and grades are no curves
        levels = tuple(cell(value) for value in grid)
        return Walk(column, inputs, np.arange(len(grid), dtype=np.float64), levels, deciles)
    return Walk(column, inputs, grid, None, deciles, is_whole)


def _real_bands(predictive: AbstractRealPredictive) -> tuple[np.ndarray, ...]:
    low, high = intervals(predictive)
    arrays = (predictive.mean, predictive.epistemic_std, low, high)
    return tuple(map(by_output, arrays))


def _real_line(bands: tuple[np.ndarray, ...], rows: np.ndarray, output: int) -> Line:
    mean, std, low, high = (band[rows, output] for band in bands)
    width = HALF_WIDTH_95 * std
    # The mean of a skewed distribution is not in the middle of its interval.
    inner = np.maximum(mean - width, low), np.minimum(mean + width, high)
    return Line("", mean, *inner, low, high)


def _most_affected_classes(
    case: Case, predictive: CategoricalPredictive, rows: list[np.ndarray]
) -> list[int]:
    """Return the second of two classes, or of several those whose probability varies most."""
    if len(case.classes) == 2:
        return [1]
    probabilities = np.asarray(predictive.probabilities)
    ranges = sum(np.ptp(probabilities[part], axis=0) for part in rows)
    return sorted(int(k) for k in np.argsort(-np.asarray(ranges), kind="stable")[:MAX_LINES])


def _class_lines(
    case: Case, predictive: CategoricalPredictive, rows: np.ndarray, chosen: list[int]
) -> tuple[Line, ...]:
    probabilities = np.asarray(predictive.probabilities)[rows]
    width = HALF_WIDTH_95 * _smoothed(np.asarray(predictive.std)[rows])
    low, high = np.clip(probabilities - width, 0, 1), np.clip(probabilities + width, 0, 1)
    return tuple(Line(case.classes[k], probabilities[:, k], low[:, k], high[:, k]) for k in chosen)


def _smoothed(std: np.ndarray) -> np.ndarray:
    """Average over neighbours, since estimates from independent draws at each point are noisy."""
    if len(std) < _NUM_STEPS:  # levels and flags have no neighbours
        return std
    padded = np.pad(std, ((3, 3), (0, 0)), mode="edge")
    return np.mean([padded[i : i + len(std)] for i in range(7)], axis=0)
