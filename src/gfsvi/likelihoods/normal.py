"""Normal observations with one noise level."""

from typing import ClassVar

import jax.numpy as jnp
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractNoisyLikelihood,
    FunctionValues,
    PointLogProb,
    normal_draws,
    per_output,
)
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import positive
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray, PerOutput
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout, user_layout
from gfsvi.predictives.normal import NormalPredictive
from gfsvi.values import AbstractValues


class Normal(AbstractNoisyLikelihood):
    """Normal noise: y = f + noise N(0, 1), with one noise for all outputs or one per output."""

    noise: PerOutput = positive(0.1)
    conjugate: ClassVar[bool] = True

    def num_outputs(self, y: AnyArray) -> int:
        return len(library_layout(y))

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return jnp.sum(norm.logpdf(library_layout(y), f, self._column), axis=0)

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        # E[(y - f)^2] = (y - mean)^2 + variance, for any distribution of f
        penalty = jnp.sum(values.variance / (2 * self._column**2), axis=0)
        return self.log_prob(y, values.mean) - penalty

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> NormalPredictive:
        numpy = namespace(values.mean, self.noise)
        variance = numpy.maximum(values.variance, 0)
        noise = numpy.broadcast_to(self._column**2, variance.shape)
        return NormalPredictive(*map(user_layout, (values.mean, variance, noise)))

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        return f, namespace(f, self.noise).broadcast_to(self._column**2, f.shape)

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        return normal_draws(f, self._column, num_samples, key=key)

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        targets = library_layout(y)
        variance = namespace(targets, self.noise).broadcast_to(self._column**2, targets.shape)
        return GaussianTargets(targets, variance)

    @property
    def _column(self) -> Float[Array, "#output 1"]:
        return per_output(self.noise)
