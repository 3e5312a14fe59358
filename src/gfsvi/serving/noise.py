"""The scatter of observations in a model file: its level, its shape and its tails."""

import dataclasses
import statistics
from collections.abc import Callable

import numpy as np

from gfsvi.serving.parts import Part

LARGEST_LOG = 4.0
"""As in `likelihoods.noise_function`."""


@dataclasses.dataclass(frozen=True)
class Noise:
    """A noise level (output, 1), and a factor on it that depends on the row."""

    level: np.ndarray
    factor: Callable[[np.ndarray], np.ndarray] | None = None

    def at(self, x: np.ndarray) -> np.ndarray:
        """The noise at rows, (output, row) or (output, 1)."""
        return self.level if self.factor is None else self.level * self.factor(x)


@dataclasses.dataclass(frozen=True)
class Tails:
    """Student's t with these degrees of freedom, (output, 1), or normal tails; and their spread."""

    degrees_of_freedom: np.ndarray | None = None
    spread: np.ndarray | float = 1.0

    @property
    def inflation(self) -> np.ndarray | float:
        """The standard deviation in units of the scale."""
        freedom = self.degrees_of_freedom
        return 1.0 if freedom is None else np.sqrt(freedom / (freedom - 2))

    @property
    def widening(self) -> np.ndarray | float:
        """By how much standard deviations are larger than those of function and noise."""
        return self.spread * self.inflation

    def quantile(self, q: float) -> np.ndarray | float:
        """The quantile for a scale of one."""
        if self.degrees_of_freedom is None:
            return statistics.NormalDist().inv_cdf(q)
        from scipy import special  # not needed for normal tails

        return special.stdtrit(self.degrees_of_freedom, q)


def noise_function_of(part: Part | None) -> Callable[[np.ndarray], np.ndarray] | None:
    """The factor on the noise that a part describes, `likelihoods.NoiseFunction`."""
    if part is None:
        return None
    part.expect("noise_function:noise_function")
    z = part.points / part.lengthscale

    def factor(x: np.ndarray) -> np.ndarray:
        rows = x / part.lengthscale
        squared = np.sum(z**2, axis=1)[:, None] + np.sum(rows**2, axis=1) - 2 * z @ rows.T
        logs = part.coefficients @ np.exp(-0.5 * np.maximum(squared, 0))
        return np.exp(np.clip(logs, -LARGEST_LOG, LARGEST_LOG))

    return factor
