"""What each of many categories does to the target, from sums over rows.

For each category, the coefficients of a regression of the target on a few numbers (a constant, and
perhaps the time of day), drawn towards those of all rows as if as many rows as `PRIOR_ROWS` were
like these. Sums over rows are all it takes, so that rows can be anywhere.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from gfsvi.data import Data
from gfsvi.streams.stream import Stream

PRIOR_ROWS = 50.0
BLOCK = 16_384


def effects_of_levels(
    stream: Stream,
    column: int,
    num_levels: int,
    basis: Callable[[np.ndarray], Float[np.ndarray, "row number"]],
    targets: Callable[[Data], Float[np.ndarray, "row output"]],
) -> Float[np.ndarray, "level effect"]:
    """The effects of levels whose numbers are in a column of the inputs.

    Args:
        stream: The rows.
        column: The column.
        num_levels: Their number.
        basis: The numbers that targets are regressed on, for inputs.
        targets: The targets of a block of rows.
    """

    def sums(block: Data) -> np.ndarray:
        x, weights = np.asarray(block.x), np.asarray(block.row_weights)
        return sums_by_level(
            x[:, column].astype(int), num_levels, basis(x), targets(block), weights
        )

    some = basis(np.asarray(stream.sample.x[:1]))
    return shrunken(stream.added(sums, BLOCK), some.shape[1])


def sums_by_level(
    levels: np.ndarray, num_levels: int, basis: np.ndarray, targets: np.ndarray, weights: np.ndarray
) -> Float[np.ndarray, "level column"]:
    """For each level, the products of all numbers with each other and with the targets, added."""
    numbers = np.concatenate([basis, targets], axis=1)
    pairs = [(i, j) for i in range(basis.shape[1]) for j in range(numbers.shape[1])]
    columns = [
        np.bincount(levels, weights * basis[:, i] * numbers[:, j], num_levels) for i, j in pairs
    ]
    return np.stack(columns, axis=1)


def shrunken(sums: np.ndarray, size: int) -> Float[np.ndarray, "level effect"]:
    """The regressions of all levels, given their sums and the size of the basis."""
    whole = sums.reshape(len(sums), size, -1)
    gram, pull = whole[:, :, :size], whole[:, :, size:]
    total = max(float(gram[:, 0, 0].sum()), 1.0)
    typical = gram.sum(axis=0) / total + 1e-9 * np.eye(size)
    common = np.linalg.solve(typical, pull.sum(axis=0) / total)
    own = np.linalg.solve(gram + PRIOR_ROWS * typical, pull - gram @ common)
    return (common + own).reshape(len(sums), -1)
