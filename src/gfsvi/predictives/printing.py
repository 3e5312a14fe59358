"""Predictives as small tables."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.core import Tracer

from gfsvi.numerics.printing import FEW_DIGITS

if TYPE_CHECKING:
    from gfsvi.predictives.base import AbstractPredictive

MOST_POINTS, MOST_COLUMNS = 8, 12


def printed(
    predictive: "AbstractPredictive", table: Callable[[list[str], list[list[str]], str], str]
) -> str:
    """The first points of a predictive as a table, in text or in HTML."""
    name = type(predictive).__name__
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(predictive)):
        return f"<traced {name}>"
    columns = predictive.head(MOST_POINTS).columns()
    num_points = _num_points(predictive)
    shown = dict(list(columns.items())[:MOST_COLUMNS])
    rows = [[_cell(value) for value in row] for row in zip(*shown.values(), strict=True)]
    note = f"{name} at {num_points} point{'' if num_points == 1 else 's'}"
    left_out = [f"{num_points - len(rows)} more points"] * (num_points > len(rows))
    left_out += [f"{len(columns) - len(shown)} more columns"] * (len(columns) > len(shown))
    return table(
        list(shown), rows, f"{note}; not shown: {', '.join(left_out)}" if left_out else note
    )


def _num_points(predictive: "AbstractPredictive") -> int:
    numbers = getattr(predictive, "mean", None)
    return len(getattr(predictive, "probabilities", ()) if numbers is None else numbers)


def _cell(value: np.generic) -> str:
    return f"{value:.{FEW_DIGITS}g}"
