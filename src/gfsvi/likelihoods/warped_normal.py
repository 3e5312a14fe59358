"""Normal observations on a learned scale."""

from typing import ClassVar

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractNoisyLikelihood,
    FunctionValues,
    PointLogProb,
    chosen_with_prior,
    per_output,
)
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.likelihoods.normal import Normal
from gfsvi.numerics.constraints import positive
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray, PerOutput
from gfsvi.predictives.base import ResponseDraws, Responses, library_layout
from gfsvi.predictives.warp import AbstractWarp, Warp
from gfsvi.predictives.warped import WarpedPredictive, moments_given
from gfsvi.values import AbstractValues


class WarpedNormal(AbstractNoisyLikelihood):
    """Skewed observations, and noise that grows with y: warp(y) = f + noise N(0, 1).

    The warp is learned with the prior; a warp that hardly bends gives `Normal`.
    """

    noise: PerOutput = positive(0.1)
    warp: AbstractWarp = chosen_with_prior(Warp())
    conjugate: ClassVar[bool] = True

    def num_outputs(self, y: AnyArray) -> int:
        return len(library_layout(y))

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return self._on_scale.log_prob(self.warped(y), f) + self.log_slopes(y)

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        on_scale = self._on_scale.expected_log_prob(self.warped(y), values, key=key)
        return on_scale + self.log_slopes(y)

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> WarpedPredictive:
        return WarpedPredictive.of(self.warp, self._on_scale.predict(values, key=key))

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        return moments_given(self.warp, f, per_output(self.noise))

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        return self.warp.inverse(self._on_scale.draw(f, num_samples, key=key))

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        on_scale = self._on_scale.gaussian_targets(self.warped(y))
        return on_scale._replace(log_factor=self.log_slopes(y))

    @property
    def _on_scale(self) -> Normal:
        return Normal(self.noise)

    def warped(self, y: AnyArray) -> Float[Array, "point output"]:
        """Observations on the scale of the warp."""
        return self.warp.forward(_columns(y)).T

    def log_slopes(self, y: AnyArray) -> PointLogProb:
        """The log derivative of the warp at each point, over all outputs."""
        return self.warp.log_slope(_columns(y)).sum(axis=0)


def _columns(y: AnyArray) -> FunctionValues:
    return namespace(y).asarray(library_layout(y), np.float64)
