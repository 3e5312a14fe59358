"""Numbers with outliers."""

from typing import ClassVar

import jax
import jax.numpy as jnp
from jax.scipy.stats import t
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractRealLikelihood,
    FunctionValues,
    NoiseStd,
    PointLogProb,
    check_numbers,
    per_output,
)
from gfsvi.likelihoods.expectations import expectation_by_quadrature
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.types import AnyArray, PerOutput
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout
from gfsvi.values import AbstractValues


class StudentT(AbstractRealLikelihood):
    """Noise with outliers: y = f + scale t with Student's t, under which outliers pull less."""

    scale: PerOutput = positive(0.1)
    degrees_of_freedom: PerOutput = positive(4.0)
    discrete: ClassVar[bool] = False
    conjugate: ClassVar[bool] = False
    has_gaussian_targets: ClassVar[bool] = True
    rescalable: ClassVar[bool] = True

    def __check_init__(self) -> None:
        check_positive(self, scale=self.scale, degrees_of_freedom=self.degrees_of_freedom)

    def check(self, y: ArrayLike) -> None:
        check_numbers(self, y)

    def num_outputs(self, y: AnyArray) -> int:
        return len(library_layout(y))

    @property
    def noise_std(self) -> NoiseStd:
        """The standard deviation of the noise, or its scale if that is infinite."""
        factor = self._variance_factor
        finite = jnp.where(jnp.isfinite(factor), factor, 1.0)
        return (per_output(self.scale) * jnp.sqrt(finite))[:, 0]

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return jnp.sum(self._log_densities(y, f), axis=0)

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        # log(1 + (y - f)^2 / (n scale^2)) bends around y over scale sqrt(n)
        width = per_output(self.scale) * jnp.sqrt(per_output(self.degrees_of_freedom))
        centre = library_layout(y).astype(values.mean.dtype)
        return expectation_by_quadrature(
            lambda f: self._log_densities(y, f), values, centre=centre, width=width
        )

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """The observations with the variance of their noise, or scale^2 if that is infinite."""
        targets = library_layout(y)
        variance = jnp.broadcast_to(jnp.square(self.noise_std)[:, None], targets.shape)
        return GaussianTargets(targets, variance)

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        variance = per_output(self.scale) ** 2 * self._variance_factor
        return f, jnp.broadcast_to(variance, f.shape)

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        freedom, shape = per_output(self.degrees_of_freedom), (2, num_samples, *f.shape)
        radius, angle = jax.random.uniform(key, shape, f.dtype, minval=jnp.finfo(f.dtype).tiny)
        # Bailey (1994): sqrt(n (u^(-2/n) - 1)) cos(2 pi v), much faster than a gamma variate
        squared = freedom * jnp.expm1(-2 / freedom * jnp.log(radius))
        return f + per_output(self.scale) * jnp.sqrt(squared) * jnp.cos(2 * jnp.pi * angle)

    def _log_densities(self, y: AnyArray, f: FunctionValues) -> FunctionValues:
        freedom, scale = per_output(self.degrees_of_freedom), per_output(self.scale)
        return t.logpdf(library_layout(y), freedom, f, scale)

    @property
    def _variance_factor(self) -> Float[Array, "#output 1"]:
        freedom = per_output(self.degrees_of_freedom)
        heavy = freedom <= 2
        return jnp.where(heavy, jnp.inf, freedom / jnp.where(heavy, 1.0, freedom - 2))
