"""Counts."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import ArrayLike, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractRealLikelihood,
    FunctionValues,
    PointLogProb,
    check_numbers,
)
from gfsvi.likelihoods.expectations import mean_over_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout
from gfsvi.values import AbstractValues, Samples


class Poisson(AbstractRealLikelihood):
    """Counts: y events that arrive at the rate exp(f)."""

    discrete: ClassVar[bool] = True
    conjugate: ClassVar[bool] = False
    has_gaussian_targets: ClassVar[bool] = True
    rescalable: ClassVar[bool] = False

    def check(self, y: ArrayLike) -> None:
        counts = check_numbers(self, y)
        unusable = counts[(counts < 0) | (counts != np.round(counts))]
        if unusable.size:
            raise ValueError(
                f"Poisson expects counts 0, 1, 2, ...; got {unusable[:5]}. "
                "Undo any scaling of y, or use Normal for other numbers."
            )

    def num_outputs(self, y: AnyArray) -> int:
        return len(library_layout(y))

    @property
    def noise_std(self) -> None:
        return None

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return self._from_rate(y, f, jnp.exp(f))

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        if isinstance(values, Samples):
            return mean_over_draws(lambda f: self.log_prob(y, f), values)
        # E[exp(f)] = exp(m + v/2)
        return self._from_rate(y, values.mean, jnp.exp(values.mean + values.variance / 2))

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """log(y + 1/2), whose variance is about one over the count."""
        counts = library_layout(y) + 0.5
        return GaussianTargets(jnp.log(counts), 1 / counts)

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        return jnp.exp(f), jnp.exp(f)

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        return jax.random.poisson(key, jnp.exp(f), (num_samples, *f.shape)).astype(f.dtype)

    def _from_rate(
        self, y: AnyArray, log_rate: FunctionValues, rate: FunctionValues
    ) -> PointLogProb:
        counts = library_layout(y).astype(log_rate.dtype)
        return jnp.sum(counts * log_rate - rate - gammaln(counts + 1), axis=0)
