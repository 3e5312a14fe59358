"""The predictive distribution of what is normal on another scale."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.constraints import real
from gfsvi.predictives.base import (
    AbstractRealPredictive,
    Observed,
    handed_out,
    library_layout,
    user_layout,
)
from gfsvi.predictives.normal import NormalPredictive
from gfsvi.predictives.warp import Warp

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


class WarpedPredictive(AbstractRealPredictive):
    """scale * y + shift, where warp(y) is a normal function value plus normal noise.

    Quantiles and densities are exact, the moments sums over 21 x 21 nodes.
    """

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed
    warp: Warp
    on_scale: NormalPredictive
    scale: Float[Array, ""] | Float[Array, " response"] = real(1.0)
    shift: Float[Array, ""] | Float[Array, " response"] = real(0.0)

    @classmethod
    @handed_out
    def of(cls, warp: Warp, on_scale: NormalPredictive) -> "WarpedPredictive":
        """The distribution of observations that are normal on the warp's scale."""
        moments = map(user_layout, _moments(warp, on_scale))
        return cls(*moments, warp, on_scale)

    @handed_out
    def log_prob(self, y: Array) -> Float[Array, " point"]:
        y = self._inward(y)
        return self.on_scale.log_prob(user_layout(self.warp.forward(y))) + self._log_slope(y)

    @handed_out
    def expected_log_prob(self, y: Array) -> Float[Array, " point"]:
        y = self._inward(y)
        on_scale = self.on_scale.expected_log_prob(user_layout(self.warp.forward(y)))
        return on_scale + self._log_slope(y)

    @handed_out
    def quantile(self, q: float | Float[Array, " level"]) -> Array:
        levels = jnp.asarray(q, jnp.float64)
        # A negative scale turns the order around.
        turned = jnp.all(jnp.asarray(self.scale) < 0)
        return self._outward(self.on_scale.quantile(jnp.where(turned, 1 - levels, levels)))

    @handed_out
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        return self._outward(self.on_scale.sample(num_samples, key=key))

    def head(self, num_points: int) -> "WarpedPredictive":
        first = [self.mean, self.epistemic_variance, self.aleatoric_variance]
        return WarpedPredictive(
            *(part[:num_points] for part in first),
            self.warp,
            self.on_scale.head(num_points),
            self.scale,
            self.shift,
        )

    @handed_out
    def rescaled(self, scale: Array | float, shift: Array | float) -> "WarpedPredictive":
        scale = jnp.asarray(scale, jnp.float64)
        return WarpedPredictive(
            scale * self.mean + shift,
            jnp.square(scale) * self.epistemic_variance,
            jnp.square(scale) * self.aleatoric_variance,
            self.warp,
            self.on_scale,
            scale * self.scale,
            scale * self.shift + shift,
        )

    def _inward(self, y: Array) -> Float[Array, "output point"]:
        shape = jnp.shape(self.mean)
        y = (jnp.reshape(jnp.asarray(y, jnp.float64), shape) - self.shift) / self.scale
        return library_layout(y)

    def _outward(self, z: Float[Array, "*many point"]) -> Array:
        lead = z.shape[: z.ndim - jnp.ndim(self.mean)]
        flat = jnp.reshape(z, (-1, *jnp.shape(self.mean)))
        y = jax.vmap(lambda one: user_layout(self.warp.inverse(library_layout(one))))(flat)
        return self.scale * jnp.reshape(y, (*lead, *jnp.shape(self.mean))) + self.shift

    def _log_slope(self, y: Float[Array, "output point"]) -> Float[Array, " point"]:
        outer = jnp.log(jnp.abs(jnp.asarray(self.scale)))
        num_outputs = len(y)
        return jnp.sum(self.warp.log_slope(y), axis=0) - jnp.sum(
            jnp.broadcast_to(outer, (num_outputs,))
        )


def _moments(warp: Warp, on_scale: NormalPredictive) -> tuple[Float[Array, "output point"], ...]:
    """Mean, variance of the mean given the function, and mean of the variance given it."""
    centre = library_layout(on_scale.mean)
    function_std = jnp.sqrt(library_layout(on_scale.epistemic_variance))
    noise_std = jnp.sqrt(library_layout(on_scale.aleatoric_variance))
    weights = jnp.asarray(_WEIGHTS)[:, None, None]

    def given_function(node: Float[Array, ""]) -> tuple[Array, Array]:
        noise = jnp.asarray(_NODES)[:, None, None] * noise_std
        y = warp.inverse(centre + node * function_std + noise)
        mean = jnp.sum(weights * y, axis=0)
        return mean, jnp.sum(weights * (y - mean) ** 2, axis=0)

    means, variances = jax.lax.map(given_function, jnp.asarray(_NODES))
    mean = jnp.sum(weights * means, axis=0)
    spread = jnp.sum(weights * (means - mean) ** 2, axis=0)
    return mean, spread, jnp.sum(weights * variances, axis=0)
