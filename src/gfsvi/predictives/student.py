"""Student's t as a predictive distribution."""

# pyright: reportReturnType=false
# Quantiles and densities are SciPy's, in arrays that are typed for JAX.

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy import special

from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import AbstractRealPredictive, Observed, returns_numpy

_NODES = np.linspace(-7, 7, 201)


class StudentPredictive(AbstractRealPredictive):
    """Student's t: a function value plus noise, both multiplied by the same random scale.

    Given the squared scale, 1 / u, both are normal; u follows a gamma distribution with mean one,
    so their sum follows Student's t.

    Args:
        mean: The mean.
        epistemic_variance: The variance of the function.
        aleatoric_variance: The variance of the noise.
        degrees_of_freedom: More than two; a large number gives a normal distribution.
    """

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed
    degrees_of_freedom: Observed

    @returns_numpy
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return _sum_outputs(_log_density(self._away(y), self._scale, self.degrees_of_freedom))

    @returns_numpy
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        """The mean over the function, normal as in a row of unit one, of Student's t around it."""
        numpy = namespace(self.mean, y)
        std, noise = (
            numpy.sqrt(self._normal_part(variance))
            for variance in (self.epistemic_variance, self.aleatoric_variance)
        )
        nodes = _NODES.reshape(-1, *(1,) * np.ndim(self.mean))
        weights = np.exp(-0.5 * nodes**2)
        at_nodes = _log_density(self._away(y) - nodes * std, noise, self.degrees_of_freedom)
        return _sum_outputs(numpy.sum(weights * at_nodes, axis=0) / np.sum(weights))

    @returns_numpy
    def cdf(self, y: AnyArray) -> Observed:
        """Probability that an observation does not exceed `y`."""
        return special.stdtr(np.asarray(self.degrees_of_freedom), self._away(y) / self._scale)

    @returns_numpy
    def quantile(self, q: float | Float[AnyArray, " level"]) -> Array:
        numpy = namespace(self.mean, self.degrees_of_freedom, q)
        levels = numpy.asarray(q, np.float64)
        levels = numpy.reshape(levels, levels.shape + (1,) * np.ndim(self.mean))
        if numpy is not np:
            of_unit = _traced_quantile(self.degrees_of_freedom, levels)
        else:
            of_unit = special.stdtrit(_common(np.asarray(self.degrees_of_freedom)), levels)
        return self.mean + of_unit * self._scale

    @returns_numpy
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        shape = (num_samples, *np.shape(self.mean))
        noise = jax.random.t(key, jnp.asarray(self.degrees_of_freedom), shape, jnp.float64)
        return self.mean + noise * self._scale

    @returns_numpy
    def rescaled(self, scale: AnyArray | float, shift: AnyArray | float) -> "StudentPredictive":
        factor = namespace(self.mean, scale).asarray(scale, np.float64)
        return StudentPredictive(
            factor * self.mean + shift,
            factor**2 * self.epistemic_variance,
            factor**2 * self.aleatoric_variance,
            self.degrees_of_freedom,
        )

    def head(self, num_points: int) -> "StudentPredictive":
        return jax.tree.map(lambda leaf: leaf[:num_points], self)

    @property
    def _scale(self) -> Observed:
        total = self.epistemic_variance + self.aleatoric_variance
        return namespace(self.mean).sqrt(self._normal_part(total))

    def _normal_part(self, variance: Observed) -> Observed:
        """The variance in a row of unit one."""
        return variance * (self.degrees_of_freedom - 2) / self.degrees_of_freedom

    def _away(self, y: AnyArray) -> Observed:
        numpy = namespace(self.mean, y)
        return numpy.reshape(numpy.asarray(y, np.float64), np.shape(self.mean)) - self.mean


def _common(freedom: np.ndarray) -> np.ndarray:
    """The degrees of freedom of one row if all rows share them: quantiles are expensive."""
    return freedom[:1] if np.all(freedom == freedom[:1]) else freedom


def _log_density(away: Observed, scale: Observed, freedom: Observed) -> Observed:
    numpy = namespace(away, scale, freedom)
    gammaln = special.gammaln if numpy is np else jax.scipy.special.gammaln
    constant = gammaln((freedom + 1) / 2) - gammaln(freedom / 2)
    constant = constant - 0.5 * numpy.log(freedom * np.pi) - numpy.log(scale)
    return constant - (freedom + 1) / 2 * numpy.log1p((away / scale) ** 2 / freedom)


def _sum_outputs(log_prob: Observed) -> Observed:
    return log_prob.sum(axis=1) if log_prob.ndim == 2 else log_prob


def _traced_quantile(freedom: Array, levels: Array) -> Array:
    """The quantile of Student's t by bisection, which JAX has no function for."""
    freedom, levels = jnp.broadcast_arrays(freedom, levels)
    upper = jnp.maximum(levels, 1 - levels)

    def halved(_: int, ends: tuple[Array, Array]) -> tuple[Array, Array]:
        middle = (ends[0] + ends[1]) / 2
        t = jnp.sinh(middle)
        tail = jax.scipy.special.betainc(freedom / 2, 0.5, freedom / (freedom + t**2)) / 2
        is_low = 1 - tail < upper
        return jnp.where(is_low, middle, ends[0]), jnp.where(is_low, ends[1], middle)

    ends = (jnp.zeros_like(upper), jnp.full_like(upper, 30.0))
    found = jnp.sinh(jax.lax.fori_loop(0, 60, halved, ends)[0])
    return jnp.where(levels < 0.5, -found, found)
