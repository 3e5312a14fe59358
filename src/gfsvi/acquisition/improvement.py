"""Expected improvement over the best row so far, for single rows and batches."""

import dataclasses
import math

import numpy as np
from scipy import special
from scipy.stats import qmc

from gfsvi.acquisition.base import AbstractAcquisition, Scores, State, in_batch
from gfsvi.acquisition.surrogate import given

_LOG_ROOT_TWO_PI = math.log(2 * math.pi) / 2
_LOG_ROOT_HALF_PI = math.log(math.pi / 2) / 2
_ASYMPTOTIC = -1e6
"""Below this many standard deviations only the leading term counts."""


@dataclasses.dataclass(frozen=True)
class Improvement(AbstractAcquisition):
    """By how much a row is expected to be better than the best row so far.

    For a row of a batch it is the expected improvement over the best row so far and all rows that
    are already in the batch, an average over their possible values.

    Args:
        num_samples: How many values of the rows in the batch are considered, a power of two.
    """

    num_samples: int = 128

    def reason(self, number: int) -> str:
        return in_batch("Largest expected improvement", number)

    def scores(self, state: State) -> Scores:
        size = len(state.pending)
        white = _standard_normal(self.num_samples if size else 1, size, state.random)

        def logarithms(x: np.ndarray) -> np.ndarray:
            at = given(state.surrogate, x, state.pending, noisy=False)
            values = at.pending_mean + white @ at.factor.T
            best = np.max(values, axis=1, initial=state.best)
            mean, std = at.mean + white @ at.slopes, np.sqrt(at.variance)
            each = log_expected_improvement(mean, std, best[:, None])
            return special.logsumexp(each, axis=0) - math.log(len(white))

        return logarithms


def log_expected_improvement(
    mean: np.ndarray, std: np.ndarray, best: np.ndarray | float
) -> np.ndarray:
    """log E[max(f - best, 0)] of a normal f, exact where the expectation itself underflows.

    Ament et al. (2023), "Unexpected improvements to expected improvement", equation 9.
    """
    std = np.maximum(std, np.finfo(float).tiny)
    z = np.asarray((mean - best) / std)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        near = np.log(np.exp(-0.5 * z**2 - _LOG_ROOT_TWO_PI) + z * special.ndtr(z))
        below = np.minimum(z, -1.0)
        ratio = np.log(special.erfcx(-below / math.sqrt(2)) * -below) + _LOG_ROOT_HALF_PI
        far = np.where(below < _ASYMPTOTIC, -2 * np.log(-below), np.log(-np.expm1(ratio)))
        far = far - 0.5 * below**2 - _LOG_ROOT_TWO_PI
    return np.where(z > -1, near, far) + np.log(std)


def _standard_normal(num_samples: int, size: int, random: np.random.Generator) -> np.ndarray:
    if not size:
        return np.zeros((num_samples, 0))
    uniform = qmc.Sobol(size, rng=random).random(num_samples)
    return special.ndtri(np.clip(uniform, 1e-9, 1 - 1e-9))
