"""Which observations are inside their intervals."""

import jax
import numpy as np

from gfsvi.likelihoods.base import per_output
from gfsvi.likelihoods.negative_binomial import NegativeBinomial
from gfsvi.likelihoods.poisson import Poisson
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.mixture import MixturePredictive

NUM_DRAWS = 1000


def are_inside(predictive: AbstractRealPredictive, y: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Whether observations are inside their central intervals, (level, row, output).

    An interval of counts contains more than its level, because no whole numbers fit it exactly. An
    observation is therefore spread over the probability of its own value (a randomised quantile),
    so that levels and shares of rows agree if the predictions are right.
    """
    y = np.asarray(y, np.float64).reshape(len(y), -1)
    levels = np.asarray(levels)[:, None, None]
    if isinstance(predictive, MixturePredictive) and predictive.conditional.discrete:
        return np.abs(2 * _randomized_quantiles(predictive, y) - 1) <= levels
    tails = np.append((1 - levels) / 2, (1 + levels) / 2)
    ends = np.asarray(predictive.quantile(tails)).reshape(2, len(levels), *y.shape)
    return (ends[0] <= y) & (y <= ends[1])


def independent_rows(inside: np.ndarray) -> np.ndarray:
    """How many independent rows as many successive rows are worth, for each output.

    Successive errors are alike, so that the share of rows inside their interval scatters like that
    of fewer rows: by the sum of autocorrelations of the number of levels that contain a row, up to
    the first pair of lags whose sum is negative (Geyer 1992).

    Args:
        inside: What `are_inside` found, (level, row, output), with rows in the order of time.
    """
    return np.array([_independent_rows(counts) for counts in np.sum(inside, axis=0).T])


def _independent_rows(values: np.ndarray) -> float:
    num_rows, away = len(values), values - np.mean(values)
    if not np.any(away):
        return float(num_rows)
    products = np.correlate(away, away, mode="full")[num_rows - 1 :]
    pairs = (products / products[0])[: num_rows // 2 * 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    last = len(pairs) if not len(negative) else negative[0]
    return num_rows / float(np.clip(2 * np.sum(pairs[:last]) - 1, 1, num_rows))


def _randomized_quantiles(predictive: MixturePredictive, y: np.ndarray) -> np.ndarray:
    """P(Y < y) + u P(Y = y), u uniform; estimated from draws if there is no formula."""
    found = _shares(predictive, y.T)
    if found is None:
        draws = np.asarray(predictive.sample(NUM_DRAWS, key=jax.random.key(0)))
        draws = draws.reshape(NUM_DRAWS, *y.shape)
        found = np.mean(draws < y, axis=0), np.mean(draws <= y, axis=0)
    below, until = found
    return below + np.random.default_rng(0).uniform(size=y.shape) * (until - below)


def _shares(
    predictive: MixturePredictive, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """P(Y < y) and P(Y <= y) of counts (output, row), each (row, output); None for other kinds."""
    from scipy.special import betainc, pdtr

    conditional, rate = predictive.conditional, np.exp(np.asarray(predictive.draws, np.float64))
    if isinstance(conditional, Poisson):
        until = [pdtr(np.maximum(k, 0), rate) for k in (counts - 1, counts)]
    elif isinstance(conditional, NegativeBinomial):
        size = 1 / np.asarray(per_output(conditional.dispersion))
        chance = size / (size + rate)  # that one of `size` trials ends the counting
        until = [betainc(size, np.maximum(k, 0) + 1, chance) for k in (counts - 1, counts)]
    else:
        return None
    below, whole = (np.mean(part, axis=0) for part in until)
    return np.where(counts > 0, below, 0).T, whole.T
