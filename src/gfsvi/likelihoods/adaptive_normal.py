"""Normal observations whose scale, noise level and tails adapt to what is observed."""

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax.scipy.stats import t
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractNoisyLikelihood,
    FunctionValues,
    NoiseStd,
    PointLogProb,
    chosen_with_prior,
    per_output,
)
from gfsvi.likelihoods.expectations import expectation_by_quadrature
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.likelihoods.noise_function import NoiseFunction
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray, PerOutput, Points
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout, user_layout
from gfsvi.predictives.student import StudentPredictive
from gfsvi.predictives.warp import AbstractWarp, Unwarped
from gfsvi.predictives.warped import WarpedPredictive, moments_given
from gfsvi.values import AbstractValues

NO_TAILS = 100.0
"""Degrees of freedom that are as good as infinite."""


class AdaptiveNormal(AbstractNoisyLikelihood):
    """Heavy tails and noise that depends on the input: warp(y) = f + scale noise(x) N(0, 1).

    Each row has a random scale, which multiplies the uncertainty about the function there as well,
    so predictions are Student's t: a few rows may be far off without making all others look
    uncertain. The function is inferred as if every scale were one. `GFSVI` chooses noise, tails and
    noise function by leave-one-out predictions.

    Args:
        noise: The noise level, one for all outputs or one per output.
        warp: Transforms observations to the scale on which their noise is added.
        degrees_of_freedom: Of Student's t, more than two; the fewer, the heavier the tails.
        spread: A factor on the standard deviations of function and noise.
        factor: The noise as a function of the input, relative to `noise`; None if it is constant.
    """

    noise: PerOutput = positive(0.1)
    warp: AbstractWarp = chosen_with_prior(Unwarped())
    degrees_of_freedom: PerOutput = positive(NO_TAILS)
    spread: PerOutput = positive(1.0)
    factor: NoiseFunction | None = None
    conjugate: ClassVar[bool] = False

    def __check_init__(self) -> None:
        check_positive(self, degrees_of_freedom=self.degrees_of_freedom, spread=self.spread)

    def at(self, x: Points) -> "AdaptiveNormal":
        if self.factor is None:
            return self
        noise = per_output(self.noise) * self.factor(x)
        return dataclasses.replace(self, noise=noise, factor=None)

    def num_outputs(self, y: AnyArray) -> int:
        return len(library_layout(y))

    @property
    def solved_as_normal(self) -> bool:
        return True

    @property
    def noise_std(self) -> NoiseStd:
        """The noise level of a row of unit one, on average over rows."""
        return namespace(self.noise).mean(per_output(self.noise), axis=1)

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return jnp.sum(self._log_densities(y, f), axis=0) + self.normal.log_slopes(y)

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        width = self._scale * jnp.sqrt(per_output(self.degrees_of_freedom))
        expected = expectation_by_quadrature(
            lambda f: self._log_densities(y, f), values, centre=self._targets(y), width=width
        )
        return expected + self.normal.log_slopes(y)

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> WarpedPredictive:
        numpy = namespace(values.mean, self.noise)
        widening = per_output(self._widening) ** 2
        shape = values.mean.shape
        variance = widening * numpy.maximum(values.variance, 0)
        noise = numpy.broadcast_to(widening * per_output(self.noise) ** 2, shape)
        freedom = numpy.broadcast_to(per_output(self.degrees_of_freedom), shape)
        parts = map(user_layout, (values.mean, variance, noise, freedom))
        return WarpedPredictive.of(self.warp, StudentPredictive(*parts))

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        return moments_given(self.warp, f, per_output(self.noise) * per_output(self._widening))

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        freedom = jnp.broadcast_to(per_output(self.degrees_of_freedom), f.shape)
        noise = jax.random.t(key, freedom, (num_samples, *f.shape), f.dtype)
        return self.warp.inverse(f + self._scale * noise)

    def draw_along(
        self, f: FunctionValues, mean: FunctionValues, *, key: PRNGKeyArray
    ) -> Responses:
        unit_key, noise_key = jax.random.split(key)
        half = jnp.broadcast_to(per_output(self.degrees_of_freedom), f.shape) / 2
        unit = per_output(self.spread) * jnp.sqrt(half / jax.random.gamma(unit_key, half))
        noise = per_output(self.noise) * jax.random.normal(noise_key, f.shape, f.dtype)
        return self.warp.inverse(mean + unit * (f - mean + noise))

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        return self.normal.gaussian_targets(y, num_outputs)

    @property
    def normal(self) -> WarpedNormal:
        """The same with units of one in every row, and an even noise."""
        return WarpedNormal(self.noise, self.warp)

    def _log_densities(self, y: AnyArray, f: FunctionValues) -> FunctionValues:
        return t.logpdf(self._targets(y), per_output(self.degrees_of_freedom), f, self._scale)

    @property
    def _scale(self) -> Float[Array, "#output #point"]:
        return per_output(self.noise) * per_output(self.spread)

    def _targets(self, y: AnyArray) -> FunctionValues:
        return library_layout(self.normal.warped(y))

    @property
    def _widening(self) -> Float[Array, " output"] | Array:
        """By how much standard deviations are larger than in a row of unit one."""
        freedom = self.degrees_of_freedom
        return self.spread * namespace(freedom).sqrt(freedom / (freedom - 2))
