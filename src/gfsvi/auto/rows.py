"""The rows that are fitted, their scales and weights."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gfsvi.numerics.batching import spreads
from gfsvi.tables import Preparation, TimeOrder


class GivenRows(NamedTuple):
    """Rows as a user gives them.

    Args:
        x: Rows of numbers, or images.
        y: Their targets.
        weights: How often each counts.
        names: Names of the features, if the user has any.
        preparation: How a table became these rows, if it was one.
        time_order: The order in time that the table has, if it has one.
    """

    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None = None
    names: Sequence[str] | None = None
    preparation: Preparation | None = None
    time_order: TimeOrder | None = None

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names, or numbers in their place."""
        return tuple(self.names or (f"x{i}" for i in range(1, self.x.shape[1] + 1)))

    def counted(self) -> tuple["GivenRows", np.ndarray]:
        """The rows that have a weight, and their positions."""
        if self.weights is None:
            return self, np.arange(len(self.x))
        rows = np.flatnonzero(checked_weights(self.weights, len(self.x)))
        order = self.time_order
        order = None if order is None else order._replace(times=order.times[rows])
        kept = {name: getattr(self, name)[rows] for name in ("x", "y", "weights")}
        return self._replace(**kept, time_order=order), rows


def centre_and_spread(
    x: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray | float, np.ndarray | float]:
    """Centre and spread of each feature; for images, of all pixels together."""
    if x.ndim == 2:
        return np.average(x, axis=0, weights=weights), spreads(x, weights)
    inner = tuple(range(1, x.ndim))
    centre = float(np.average(x.mean(axis=inner), weights=weights))
    variance = np.average(((x - centre) ** 2).mean(axis=inner), weights=weights)
    return centre, float(np.sqrt(variance)) or 1.0


def checked_weights(weights: np.ndarray, num_rows: int) -> np.ndarray:
    """The weights; raise unless there is one for each row, two of them positive."""
    if np.shape(weights) != (num_rows,) or not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(
            f"expected one weight per row, ({num_rows},), none of them negative or NaN; got an "
            f"array of shape {np.shape(weights)}. Leave the weights out to count all rows alike."
        )
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            "expected at least two rows with a positive weight; got "
            f"{np.count_nonzero(weights)}. Give more rows a weight."
        )
    return weights
