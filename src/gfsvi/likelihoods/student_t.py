"""Numbers with outliers."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy.stats import t
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractRealLikelihood,
    FunctionValues,
    PointLogProb,
    check_numbers,
    per_output,
)
from gfsvi.likelihoods.expectations import expectation_by_quadrature
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.predictives.base import library_layout
from gfsvi.values import AbstractValues


class StudentT(AbstractRealLikelihood):
    """y = f + scale t, t of Student's distribution: far observations pull less than in Normal."""

    scale: Float[Array, ""] | Float[Array, " output"] = positive(0.1)
    degrees_of_freedom: Float[Array, ""] | Float[Array, " output"] = positive(4.0)
    discrete: ClassVar[bool] = False

    def __check_init__(self) -> None:
        check_positive(self, scale=self.scale, degrees_of_freedom=self.degrees_of_freedom)

    def check(self, y: Any) -> None:
        check_numbers(self, y)

    def num_outputs(self, y: Array) -> int:
        return len(library_layout(y))

    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        freedom, scale = per_output(self.degrees_of_freedom), per_output(self.scale)
        return jnp.sum(t.logpdf(library_layout(y), freedom, f, scale), axis=0)

    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        return expectation_by_quadrature(lambda f: self.log_prob(y, f), values)

    def gaussian_targets(self, y: Array, num_outputs: int | None = None) -> GaussianTargets:
        """The observations with the variance of their noise, or scale^2 where that is infinite."""
        targets, factor = library_layout(y), self._variance_factor
        variance = per_output(self.scale) ** 2 * jnp.where(jnp.isfinite(factor), factor, 1.0)
        return GaussianTargets(targets, jnp.broadcast_to(variance, targets.shape))

    def moments(self, f: FunctionValues) -> tuple[FunctionValues, FunctionValues]:
        variance = per_output(self.scale) ** 2 * self._variance_factor
        return f, jnp.broadcast_to(variance, f.shape)

    def draw(
        self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray
    ) -> Float[Array, "sample response point"]:
        freedom, shape = per_output(self.degrees_of_freedom), (2, num_samples, *f.shape)
        radius, angle = jax.random.uniform(key, shape, f.dtype, minval=jnp.finfo(f.dtype).tiny)
        # Bailey (1994): sqrt(n (u^(-2/n) - 1)) cos(2 pi v), far quicker than by a gamma variate
        squared = freedom * jnp.expm1(-2 / freedom * jnp.log(radius))
        return f + per_output(self.scale) * jnp.sqrt(squared) * jnp.cos(2 * jnp.pi * angle)

    @property
    def _variance_factor(self) -> Float[Array, "#output 1"]:
        freedom = per_output(self.degrees_of_freedom)
        heavy = freedom <= 2
        return jnp.where(heavy, jnp.inf, freedom / jnp.where(heavy, 1.0, freedom - 2))
