"""The predictive distribution that is a mixture of normal ones."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp, ndtr, ndtri
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import AbstractRealPredictive, Observed, returns_numpy

_NUM_HALVINGS = 100

Components = Float[Array, "component point"]


class NormalMixturePredictive(AbstractRealPredictive):
    """Normal components with weights that sum to one; densities and quantiles are exact."""

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed
    means: Components
    stds: Components
    weights: Float[Array, " component"]

    @classmethod
    @returns_numpy
    def of(
        cls,
        means: Float[AnyArray, "component point"],
        stds: Float[AnyArray, "component point"],
        weights: Float[AnyArray, " component"],
    ) -> "NormalMixturePredictive":
        """The mixture of normal distributions with these means and standard deviations."""
        means, stds, weights = (jnp.asarray(part, jnp.float64) for part in (means, stds, weights))
        mean = weights @ means
        # Law of total variance: the spread of the means, and the mean of the variances.
        return cls(mean, weights @ (means - mean) ** 2, weights @ stds**2, means, stds, weights)

    @returns_numpy
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        weights = jnp.asarray(self.weights)[:, None]
        return logsumexp(self._log_densities(y), b=weights, axis=0)

    @returns_numpy
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return jnp.asarray(self.weights) @ self._log_densities(y)

    @returns_numpy
    def cdf(self, y: AnyArray) -> Float[Array, "*level point"]:
        """Probability that an observation does not exceed `y`."""
        return _cdf(jnp.asarray(y, jnp.float64), self.means, self.stds, self.weights)

    @returns_numpy
    def quantile(self, q: float | Float[AnyArray, " level"]) -> Array:
        levels = jnp.asarray(q, jnp.float64)
        return _quantiles(levels, self.means, self.stds, self.weights)

    @returns_numpy
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        choice_key, noise_key = jax.random.split(key)
        points = jnp.arange(np.shape(self.means)[1])
        shape = (num_samples, len(points))
        chosen = jax.random.choice(choice_key, len(self.means), shape, p=jnp.asarray(self.weights))
        noise = jax.random.normal(noise_key, shape, jnp.float64)
        means, stds = jnp.asarray(self.means), jnp.asarray(self.stds)
        return means[chosen, points] + stds[chosen, points] * noise

    @returns_numpy
    def rescaled(
        self, scale: AnyArray | float, shift: AnyArray | float
    ) -> "NormalMixturePredictive":
        factor = jnp.asarray(scale, jnp.float64)
        means = factor * jnp.asarray(self.means) + shift
        return NormalMixturePredictive.of(means, jnp.abs(factor) * self.stds, self.weights)

    def head(self, num_points: int) -> "NormalMixturePredictive":
        means, stds = self.means[:, :num_points], self.stds[:, :num_points]
        return NormalMixturePredictive.of(means, stds, self.weights)

    def _log_densities(self, y: AnyArray) -> Components:
        return norm.logpdf(jnp.ravel(jnp.asarray(y, jnp.float64)), self.means, self.stds)


@jax.jit
def _cdf(
    y: Float[Array, "*level point"],
    means: Components,
    stds: Components,
    weights: Float[Array, " component"],
) -> Float[Array, "*level point"]:
    return jnp.einsum("k,...kp->...p", weights, ndtr((y[..., None, :] - means) / stds))


@jax.jit
def _quantiles(
    levels: Float[Array, "*level"],
    means: Components,
    stds: Components,
    weights: Float[Array, " component"],
) -> Float[Array, "*level point"]:
    """Quantiles by halving the interval between those of the components."""
    ends = means + ndtri(levels)[..., None, None] * stds

    def halved(_: int, bracket: tuple[Array, Array]) -> tuple[Array, Array]:
        low, high = bracket
        middle = (low + high) / 2
        is_below = _cdf(middle, means, stds, weights) < levels[..., None]
        return jnp.where(is_below, middle, low), jnp.where(is_below, high, middle)

    bracket = (ends.min(axis=-2), ends.max(axis=-2))
    low, high = jax.lax.fori_loop(0, _NUM_HALVINGS, halved, bracket)
    return (low + high) / 2
