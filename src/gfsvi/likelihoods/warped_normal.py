"""Normal observations on a scale of their own."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractLikelihood,
    FunctionValues,
    PointLogProb,
    check_numbers,
    per_output,
)
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.likelihoods.normal import Normal
from gfsvi.numerics.constraints import check_positive, positive
from gfsvi.predictives.base import library_layout, user_layout
from gfsvi.predictives.normal import NormalPredictive
from gfsvi.predictives.warp import Warp
from gfsvi.predictives.warped import WarpedPredictive
from gfsvi.values import AbstractValues


class WarpedNormal(AbstractLikelihood):
    """warp(y) = f + noise N(0, 1): noise that grows with the size of y, and skewed observations.

    The warp is learned with everything else; for one that hardly bends this is `Normal`.
    """

    noise: Float[Array, ""] | Float[Array, " output"] = positive(0.1)
    warp: Warp = Warp()

    def __check_init__(self) -> None:
        check_positive(self, noise=self.noise)

    def check(self, y: Any) -> None:
        check_numbers(self, y)

    def num_outputs(self, y: Array) -> int:
        return len(library_layout(y))

    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        return self._on_scale.log_prob(self._warped(y), f) + self._log_slope(y)

    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        on_scale = self._on_scale.expected_log_prob(self._warped(y), values, key=key)
        return on_scale + self._log_slope(y)

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> WarpedPredictive:
        variance = jnp.maximum(values.variance, 0)
        noise = jnp.broadcast_to(per_output(self.noise) ** 2, variance.shape)
        on_scale = NormalPredictive(*map(user_layout, (values.mean, variance, noise)))
        return WarpedPredictive.of(self.warp, on_scale)

    def gaussian_targets(self, y: Array, num_outputs: int | None = None) -> GaussianTargets:
        targets = self.warp.forward(jnp.asarray(library_layout(y), jnp.float64))
        variance = jnp.broadcast_to(per_output(self.noise) ** 2, targets.shape)
        return GaussianTargets(targets, variance, jnp.sum(self._log_slope(y)))

    @property
    def _on_scale(self) -> Normal:
        return Normal(self.noise)

    def _warped(self, y: Array) -> Float[Array, "point output"]:
        return self.warp.forward(_columns(y)).T

    def _log_slope(self, y: Array) -> PointLogProb:
        return jnp.sum(self.warp.log_slope(_columns(y)), axis=0)


def _columns(y: Array) -> FunctionValues:
    return jnp.asarray(library_layout(y), np.float64)
