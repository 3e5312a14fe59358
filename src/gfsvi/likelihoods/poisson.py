"""Counts."""

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractCountLikelihood,
    FunctionValues,
    PointLogProb,
)
from gfsvi.likelihoods.expectations import mean_over_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout
from gfsvi.values import AbstractValues, Samples


class Poisson(AbstractCountLikelihood):
    """Counts of events that arrive at rate exp(f)."""

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
        return GaussianTargets(namespace(counts).log(counts), 1 / counts)

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        return jnp.exp(f), jnp.exp(f)

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        return jax.random.poisson(key, jnp.exp(f), (num_samples, *f.shape)).astype(f.dtype)

    def _from_rate(
        self, y: AnyArray, log_rate: FunctionValues, rate: FunctionValues
    ) -> PointLogProb:
        counts = library_layout(y).astype(log_rate.dtype)
        return jnp.sum(counts * log_rate - rate - gammaln(counts + 1), axis=0)
