"""Counts that scatter more than those of independent events."""

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln
from jaxtyping import PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractCountLikelihood,
    FunctionValues,
    PointLogProb,
    per_output,
)
from gfsvi.likelihoods.expectations import expectation_by_quadrature
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray, PerOutput
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout
from gfsvi.values import AbstractValues


class NegativeBinomial(AbstractCountLikelihood):
    """Overdispersed counts, with mean exp(f) and variance exp(f) + dispersion exp(2 f).

    The rate of each observation is itself random; without dispersion it is `Poisson`.
    """

    dispersion: PerOutput = positive(0.5)

    def __check_init__(self) -> None:
        check_positive(self, dispersion=self.dispersion)

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return jnp.sum(self._log_probs(y, f), axis=0)

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        return expectation_by_quadrature(lambda f: self._log_probs(y, f), values)

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """log(y + 1/2), whose variance is about one over the count, plus the dispersion."""
        counts = library_layout(y) + 0.5
        return GaussianTargets(
            namespace(counts).log(counts), 1 / counts + per_output(self.dispersion)
        )

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        mean = jnp.exp(f)
        return mean, mean + per_output(self.dispersion) * mean**2

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        rate_key, count_key = jax.random.split(key)
        shape = (num_samples, *f.shape)
        size = jnp.broadcast_to(1 / per_output(self.dispersion), f.shape)
        rates = jnp.exp(f) / size * jax.random.gamma(rate_key, size, shape, f.dtype)
        return jax.random.poisson(count_key, rates, shape).astype(f.dtype)

    def _log_probs(self, y: AnyArray, f: FunctionValues) -> FunctionValues:
        counts, size = library_layout(y).astype(f.dtype), 1 / per_output(self.dispersion)
        # p = 1 / (1 + exp(f) / size) is the chance that one of `size` trials ends the counting.
        odds = f - jnp.log(size)
        choices = gammaln(counts + size) - gammaln(size) - gammaln(counts + 1)
        return choices + counts * odds - (counts + size) * jax.nn.softplus(odds)
