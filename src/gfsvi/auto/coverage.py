"""Which observations are inside their intervals."""

import jax
import numpy as np

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


def _randomized_quantiles(predictive: AbstractRealPredictive, y: np.ndarray) -> np.ndarray:
    """P(Y < y) + u P(Y = y), u uniform, estimated from draws."""
    draws = np.asarray(predictive.sample(NUM_DRAWS, key=jax.random.key(0)))
    draws = draws.reshape(NUM_DRAWS, *y.shape)
    below, equal = np.mean(draws < y, axis=0), np.mean(draws == y, axis=0)
    return below + np.random.default_rng(0).uniform(size=y.shape) * equal
