"""Scales and weights of the rows that are fitted."""

import numpy as np

from gfsvi.numerics.batching import spreads


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
