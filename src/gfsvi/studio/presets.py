"""Priors by their meaning, to start from."""

import math
from typing import Any

from gfsvi.studio.reading import WorkspaceError
from gfsvi.studio.workspace import Column, View, Workspace

NAMES = {
    "smooth": "smooth",
    "rough": "rough",
    "seasonal": "seasonal",
    "seasonal_with_trend": "seasonal with trend",
    "flow": "flow without divergence",
}
_YEAR, _WEEK, _DAY = 365.2425, 7.0, 1.0
_CYCLES = (_YEAR, _WEEK, _DAY, _DAY / 24)
_MOST_CYCLES = 15
FIELD = {"family": "rbf", "lengthscale": 2.0, "swirl": 1.0, "sources": 0.01}


def preset(workspace: Workspace, name: str) -> dict[str, Any]:
    """The parts of a workspace that a preset changes."""
    if name not in NAMES:
        raise WorkspaceError(f"expected a preset among {', '.join(NAMES)}; got {name!r}.")
    if name == "flow":
        return {"kind": "field", "field": FIELD}
    column = workspace.column(workspace.view.column)
    spread = rounded(workspace.scale.target_spread)
    if column.kind == "category":
        return {"kind": "function", "terms": [_everywhere("matern52", workspace, spread)]}
    found = {"kind": "function", "terms": _TERMS[name](workspace, column, spread)}
    if name.startswith("seasonal"):
        found["view"] = _seasons_in_view(workspace.view, column)
    return found


def rounded(value: float, digits: int = 2) -> float:
    """A positive number with few digits."""
    return float(f"{value:.{digits}g}")


def _smooth(workspace: Workspace, column: Column, spread: float) -> list[dict[str, Any]]:
    if len(workspace.columns) > 1:
        return [_everywhere("matern52", workspace, spread)]
    return [_term(spread, _block("matern52", column, 0.2))]


def _rough(workspace: Workspace, column: Column, spread: float) -> list[dict[str, Any]]:
    if len(workspace.columns) > 1:
        return [_everywhere("matern12", workspace, spread)]
    return [_term(spread, _block("matern12", column, 0.3))]


def _seasonal(workspace: Workspace, column: Column, spread: float) -> list[dict[str, Any]]:
    others = [_everywhere("matern52", workspace, spread)] if len(workspace.columns) > 1 else []
    return [_season(column, spread), *others]


def _with_trend(workspace: Workspace, column: Column, spread: float) -> list[dict[str, Any]]:
    season, *others = _seasonal(workspace, column, rounded(spread / 3))
    return [_term(spread, _block("rbf", column, 0.5)), season, *others]


_TERMS = {
    "smooth": _smooth,
    "rough": _rough,
    "seasonal": _seasonal,
    "seasonal_with_trend": _with_trend,
}


def _season(column: Column, spread: float) -> dict[str, Any]:
    period = _period(column)
    repeating = {
        "family": "periodic",
        "columns": [column.name],
        "values": {"period": period, "lengthscale": 1.0},
    }
    drifting = {
        "family": "matern52",
        "columns": [column.name],
        "values": {"lengthscale": rounded(10 * period) if column.kind != "date" else 10 * period},
    }
    return _term(spread, repeating, drifting)


def _period(column: Column) -> float:
    """The longest usual cycle of which the column has three; of numbers, a fifth of the range."""
    width = column.high - column.low
    if column.kind != "date":
        return rounded(width / 5, 1)
    return next((cycle for cycle in _CYCLES if width >= 3 * cycle), width / 5)


def _seasons_in_view(view: View, column: Column) -> dict[str, Any]:
    """The last cycles and the next few, if there are too many to tell them apart."""
    low, high = view.low, view.high
    if high - low > _MOST_CYCLES * (period := _period(column)):
        low, high = column.high - 8 * period, column.high + 4 * period
    return {
        "column": column.name,
        "low": low,
        "high": high,
        "at": view.at,
        "draws": view.num_draws,
        "seed": view.seed,
    }


def _term(std: float, *factors: dict[str, Any]) -> dict[str, Any]:
    return {"std": std, "factors": list(factors)}


def _block(family: str, column: Column, share: float) -> dict[str, Any]:
    """A block on one column whose length scale is a share of the column's range."""
    length = share * (column.high - column.low)
    if column.kind == "date":
        unit = next((cycle for cycle in _CYCLES if length >= cycle), 1 / 86_400)
        length = unit * rounded(length / unit, 2)
    else:
        length = rounded(length)
    return {"family": family, "columns": [column.name], "values": {"lengthscale": length}}


def _everywhere(family: str, workspace: Workspace, spread: float) -> dict[str, Any]:
    """A block on all columns, in their standard deviations."""
    length = rounded(1.5 * math.sqrt(len(workspace.scale.features)))
    return _term(spread, {"family": family, "columns": [], "values": {"lengthscale": length}})
