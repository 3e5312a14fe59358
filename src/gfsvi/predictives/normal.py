"""The normal predictive distribution."""

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.precision import double
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import AbstractRealPredictive, Observed


class NormalPredictive(AbstractRealPredictive):
    """A normal function value plus normal noise."""

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed

    @double
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        std = jnp.sqrt(self.epistemic_variance + self.aleatoric_variance)
        return _sum_outputs(norm.logpdf(self._like_mean(y), self.mean, std))

    @double
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        # -1/2 log(2 pi s^2) - ((y - mu)^2 + v) / (2 s^2)
        at_mean = norm.logpdf(self._like_mean(y), self.mean, jnp.sqrt(self.aleatoric_variance))
        return _sum_outputs(at_mean - self.epistemic_variance / (2 * self.aleatoric_variance))

    @double
    def quantile(self, q: float | Float[AnyArray, " level"]) -> Array:
        levels = jnp.asarray(q, jnp.float64)
        levels = jnp.reshape(levels, levels.shape + (1,) * jnp.ndim(self.mean))
        std = jnp.sqrt(self.epistemic_variance + self.aleatoric_variance)
        return self.mean + norm.ppf(levels) * std

    @double
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        noise = jax.random.normal(key, (num_samples, *jnp.shape(self.mean)), jnp.float64)
        return self.mean + noise * jnp.sqrt(self.epistemic_variance + self.aleatoric_variance)

    @double
    def rescaled(self, scale: AnyArray | float, shift: AnyArray | float) -> "NormalPredictive":
        square = jnp.square(jnp.asarray(scale, jnp.float64))
        return NormalPredictive(
            jnp.asarray(scale, jnp.float64) * self.mean + shift,
            square * self.epistemic_variance,
            square * self.aleatoric_variance,
        )

    def head(self, num_points: int) -> "NormalPredictive":
        return jax.tree.map(lambda leaf: leaf[:num_points], self)

    def _like_mean(self, y: AnyArray) -> Observed:
        return jnp.reshape(jnp.asarray(y, jnp.float64), jnp.shape(self.mean))


def _sum_outputs(log_prob: Array) -> Float[Array, " point"]:
    return jnp.sum(log_prob, axis=1) if log_prob.ndim == 2 else log_prob
