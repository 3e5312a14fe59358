"""How much of the variance of predictions each column explains."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

MAX_ROWS = 1000
"""With a thousand rows a share has a standard error of a few percent."""
MAX_PREDICTIONS = 20_000
"""Shuffled rows that are predicted for all columns together."""
SHUFFLED = (100, 2000)
"""The fewest and the most shuffled rows per column, however many columns there are."""
NUM_BLOCKS = 20
"""Blocks of rows that are left out in turn to find the standard errors."""


@dataclasses.dataclass(frozen=True, repr=False)
class Importance:
    """Shares of the variance of predictions, by column of the table.

    For independent columns these are the first-order and total Sobol indices. Columns that share
    information explain it both, so that their first-order shares may add up to more than one;
    a total share above the first-order one is due to interactions with other columns.

    Args:
        columns: The names of the columns.
        first_order: The share that the column explains on its own, (column,) or (column, target).
        first_order_std: Its standard error.
        total: The share that is lost if the column is shuffled, in the same shape.
        total_std: Its standard error.
    """

    columns: tuple[str, ...]
    first_order: np.ndarray
    first_order_std: np.ndarray
    total: np.ndarray
    total_std: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """Positions of the columns by their total share over all targets, the largest first."""
        overall = np.max(self.total.reshape(len(self.columns), -1), axis=1)
        return np.argsort(-overall, kind="stable")

    def __repr__(self) -> str:
        width = max(map(len, self.columns))
        pairs = ((self.first_order, self.first_order_std), (self.total, self.total_std))
        lines = [f"{'':{width}}  {'first order':>15}  {'total':>15}"]
        for i in self.order:
            cells = (_with_error(share[i], error[i]) for share, error in pairs)
            lines.append(f"{self.columns[i]:{width}}  {'  '.join(cells)}")
        return "\n".join(lines)


def importance(
    respond: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    groups: Mapping[str, Sequence[int]],
    *,
    seed: int = 0,
    weights: np.ndarray | None = None,
    max_predictions: int = MAX_PREDICTIONS,
) -> Importance:
    """The shares of the variance of a function of rows, (row,) or (row, target, component).

    The variances of the components of a target are added up: the probabilities of all classes
    form one target.

    Args:
        respond: The function.
        x: Rows whose distribution the variance is taken over.
        groups: The positions of the features that belong to each column.
        seed: Determines how columns are shuffled.
        weights: How often each row counts.
        max_predictions: How many shuffled rows to predict, for all columns together, unless these
            would be too few.
    """
    rows = _representative(x, weights, min(len(x), MAX_ROWS))
    values = _components(respond(rows))
    random = np.random.default_rng(seed)
    num_shuffled = int(np.clip(max_predictions // max(1, len(groups)), *SHUFFLED))
    kept, given = (_passes(len(rows), num_shuffled, random) for _ in range(2))
    blocks = random.permutation(len(rows)) % min(NUM_BLOCKS, len(rows))
    shares = []
    for features in map(list, groups.values()):
        labels = _bins(rows[:, features])
        exchanged = rows[kept]
        exchanged[:, features] = rows[given][:, features]
        change = _components(respond(exchanged)) - values[kept]
        first = _with_jackknife(partial(_first_order, values, labels), blocks)
        total = _with_jackknife(partial(_total, values, kept, change**2 / 2), blocks)
        shares.append((np.clip(first[0], 0, 1), first[1], *total))
    return Importance(tuple(groups), *(_by_target(part) for part in zip(*shares, strict=True)))


def _passes(num_rows: int, num_wanted: int, random: np.random.Generator) -> np.ndarray:
    """Positions of rows in random order, all of them before any is repeated."""
    num_passes = -(-num_wanted // num_rows)
    return np.concatenate([random.permutation(num_rows) for _ in range(num_passes)])[:num_wanted]


def _representative(x: np.ndarray, weights: np.ndarray | None, num_rows: int) -> np.ndarray:
    """Evenly spaced rows, of which a row of twice the weight is twice as many."""
    below = np.cumsum(np.ones(len(x)) if weights is None else weights)
    wanted = (np.arange(num_rows) + 0.5) / num_rows * below[-1]
    return np.asarray(x, np.float64)[np.searchsorted(below, wanted)]


def _components(values: np.ndarray) -> np.ndarray:
    """Responses as (row, target, component)."""
    values = np.asarray(values, np.float64)
    return values.reshape(*values.shape, *(1,) * (3 - values.ndim))


def _bins(block: np.ndarray) -> np.ndarray:
    """Numbers of bins with similar values: each value if there are few, otherwise quantiles.

    Features after the first mark missing values or levels, and have few.
    """
    num_bins = max(2, round(1.5 * len(block) ** 0.5))
    first = block[:, 0]
    if len(np.unique(first)) > num_bins:
        ends = np.quantile(first, np.linspace(0, 1, num_bins + 1)[1:-1])
        first = np.searchsorted(ends, first)
    together = np.column_stack([first, block[:, 1:]])
    return np.unique(together, axis=0, return_inverse=True)[1].ravel()


def _first_order(values: np.ndarray, labels: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The variance between bins over all variance, without the part that is due to chance."""
    values, labels = values[used], np.unique(labels[used], return_inverse=True)[1]
    counts = np.bincount(labels)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, labels, values)
    within = values - (sums / counts[:, None, None])[labels]
    freedom = max(1, len(values) - len(counts))
    return 1 - _ratio(np.sum(within**2, axis=(0, 2)) / freedom, _variance(values))


def _total(
    values: np.ndarray, kept: np.ndarray, squared: np.ndarray, used: np.ndarray
) -> np.ndarray:
    """Half of the mean squared change (Jansen's estimate) over the variance."""
    lost = np.sum(np.mean(squared[used[kept]], axis=0), axis=-1)
    return _ratio(lost, _variance(values[used]))


def _variance(values: np.ndarray) -> np.ndarray:
    return np.sum(np.var(values, axis=0, ddof=1), axis=-1)


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), 0.0)


def _with_jackknife(
    share: Callable[[np.ndarray], np.ndarray], blocks: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A share and its standard error, from how it differs when blocks of rows are left out."""
    num_blocks = blocks.max() + 1
    without = [share(blocks != block) for block in range(num_blocks)]
    error = np.sqrt((num_blocks - 1) * np.var(without, axis=0))
    return share(np.ones(len(blocks), bool)), error


def _by_target(shares: tuple[np.ndarray, ...]) -> np.ndarray:
    stacked = np.stack(shares)
    return stacked[:, 0] if stacked.shape[1] == 1 else stacked


def _with_error(share: np.ndarray, error: np.ndarray) -> str:
    pairs = zip(np.atleast_1d(share), np.atleast_1d(error), strict=True)
    return "  ".join(f"{value:6.1%} ± {std:5.1%}".rjust(15) for value, std in pairs)
