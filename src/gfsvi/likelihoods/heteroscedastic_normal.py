"""Normal observations whose noise is a function of the inputs."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractNoisyLikelihood,
    AbstractRealLikelihood,
    FunctionValues,
    PointLogProb,
    normal_draws,
    per_output,
)
from gfsvi.likelihoods.expectations import mean_over_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import positive
from gfsvi.numerics.types import AnyArray, PerOutput
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout
from gfsvi.values import AbstractValues, Marginals, Samples


class HeteroscedasticNormal(AbstractNoisyLikelihood, AbstractRealLikelihood):
    """Noise that depends on the input: y = f1 + noise exp(f2) N(0, 1), with outputs f1 and then f2.

    Its `noise_std` is the noise where f2 is zero.
    """

    noise: PerOutput = positive(0.1)
    conjugate: ClassVar[bool] = False

    def num_outputs(self, y: AnyArray) -> int:
        return 2 * len(library_layout(y))

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        mean, log_std = _halves(f)
        std = per_output(self.noise) * jnp.exp(log_std)
        return jnp.sum(norm.logpdf(library_layout(y), mean, std), axis=0)

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        if isinstance(values, Samples):
            return mean_over_draws(lambda f: self.log_prob(y, f), values)
        (m1, m2), (v1, v2), c12 = _halves(values.mean), _halves(values.variance), _cross(values)
        # E[(y - f1)^2 exp(-2 f2)] = exp(-2 m2 + 2 v2) [(y - m1 + 2 c12)^2 + v1]
        square = jnp.exp(-2 * m2 + 2 * v2) * ((library_layout(y) - m1 + 2 * c12) ** 2 + v1)
        noise = per_output(self.noise)
        log_std = jnp.log(noise) + m2
        return jnp.sum(-0.5 * np.log(2 * np.pi) - log_std - square / (2 * noise**2), axis=0)

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """Targets of the first half of the outputs; the noise is not observed."""
        targets = library_layout(y)
        variance = jnp.broadcast_to(per_output(self.noise) ** 2, targets.shape)
        return GaussianTargets(targets, variance)

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        mean, log_std = _halves(f)
        return mean, jnp.square(per_output(self.noise) * jnp.exp(log_std))

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        mean, variance = self.moments(f)
        return normal_draws(mean, jnp.sqrt(variance), num_samples, key=key)


def _halves(outputs: FunctionValues) -> tuple[FunctionValues, FunctionValues]:
    half = len(outputs) // 2
    return outputs[:half], outputs[half:]


def _cross(values: AbstractValues) -> FunctionValues | float:
    if not isinstance(values, Marginals):
        return 0.0
    half = len(values.mean) // 2
    return jnp.diagonal(values.cov[:, :half, half:], axis1=-2, axis2=-1).T
