"""The predictive distribution of observations that are normal on another scale."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.constraints import real
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import (
    AbstractScaledPredictive,
    FunctionValues,
    Observed,
    Responses,
    library_layout,
    returns_numpy,
    user_layout,
)
from gfsvi.predictives.normal import NormalPredictive
from gfsvi.predictives.student import StudentPredictive
from gfsvi.predictives.warp import AbstractWarp, Bounded

OnScale = NormalPredictive | StudentPredictive
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
FEW = 64
"""Values up to which all nodes are computed at once; of more, one after the other."""


class WarpedPredictive(AbstractScaledPredictive):
    """scale * y + shift, where warp(y) is a normal function value plus normal noise, or like it.

    Quantiles and densities are exact; moments are sums over 21 x 21 nodes, for normal function
    values and noise of the same variances.
    """

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed
    warp: AbstractWarp
    on_scale: OnScale
    scale: Float[Array, ""] | Float[Array, " response"] = real(1.0)
    shift: Float[Array, ""] | Float[Array, " response"] = real(0.0)

    @classmethod
    @returns_numpy
    def of(cls, warp: AbstractWarp, on_scale: OnScale) -> "WarpedPredictive":
        """The distribution of observations that are normal on the warp's scale."""
        mean, spread, scatter = map(user_layout, _moments(warp, on_scale))
        return cls(mean, spread, scatter, warp=warp, on_scale=on_scale)

    @returns_numpy
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        y = self._inward(y)
        return self.on_scale.log_prob(user_layout(self.warp.forward(y))) + self._log_slope(y)

    @returns_numpy
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        y = self._inward(y)
        on_scale = self.on_scale.expected_log_prob(user_layout(self.warp.forward(y)))
        return on_scale + self._log_slope(y)

    @returns_numpy
    def cdf(self, y: AnyArray) -> Observed:
        """Probability that an observation does not exceed `y`."""
        numpy = namespace(self.mean, self.scale, y)
        inward, warp = self._inward(y), self.warp
        ends = (warp.least, warp.most) if isinstance(warp, Bounded) else (-np.inf, np.inf)
        least, most = (np.reshape(end, (-1, 1)) for end in ends)
        # A negative scale reverses the order: what does not exceed y is not less than this.
        turned = numpy.reshape(numpy.asarray(self.scale) < 0, (-1, 1))
        none = numpy.where(turned, inward <= least, inward < least)
        whole = numpy.where(turned, inward > most, inward >= most)
        inside = library_layout(self.on_scale.cdf(user_layout(warp.forward(inward))))
        below = numpy.where(none, 0.0, numpy.where(whole, 1.0, inside))
        return user_layout(numpy.where(turned, 1 - below, below))

    @returns_numpy
    def quantile(self, q: float | Float[AnyArray, " level"]) -> Array:
        numpy = namespace(self.mean, self.scale, q)
        levels = numpy.asarray(q, np.float64)
        # A negative scale reverses the order.
        turned = numpy.all(numpy.asarray(self.scale) < 0)
        return self._outward(self.on_scale.quantile(numpy.where(turned, 1 - levels, levels)))

    @returns_numpy
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        return self._outward(self.on_scale.sample(num_samples, key=key))

    def head(self, num_points: int) -> "WarpedPredictive":
        on_scale = self.on_scale.head(num_points)
        return dataclasses.replace(self, on_scale=on_scale, **self._first_moments(num_points))

    def _inward(self, y: AnyArray) -> Float[Array, "output point"]:
        numpy = namespace(self.mean, self.scale, y)
        y = numpy.reshape(numpy.asarray(y, np.float64), np.shape(self.mean))
        return library_layout((y - self.shift) / self.scale)

    def _outward(self, z: Float[Array, "*many point"]) -> Array:
        is_single = np.ndim(self.mean) == 1
        on_scale = z[..., None, :] if is_single else z.swapaxes(-1, -2)
        return self.scale * user_layout(self.warp.inverse(on_scale)) + self.shift

    def _log_slope(self, y: Float[Array, "output point"]) -> Float[Array, " point"]:
        numpy = namespace(y, self.scale)
        outer = numpy.broadcast_to(numpy.log(numpy.abs(self.scale)), (len(y),))
        return self.warp.log_slope(y).sum(axis=0) - outer.sum()


def moments_given(
    warp: AbstractWarp, f: FunctionValues, noise_std: Float[Array, "#output #point"]
) -> tuple[Responses, Responses]:
    """Mean and variance of y where warp(y) is normal around `f`, by Gauss-Hermite quadrature."""
    weights = _WEIGHTS[:, None, None]
    noise = _NODES[:, None, None] * noise_std
    y = warp.inverse(f[..., None, :, :] + noise)
    mean = (weights * y).sum(axis=-3)
    return mean, (weights * (y - mean[..., None, :, :]) ** 2).sum(axis=-3)


def _moments(warp: AbstractWarp, on_scale: OnScale) -> tuple[Responses, ...]:
    """Mean, variance of the mean given the function, and mean of the variance given it."""
    centre = library_layout(on_scale.mean)
    numpy = namespace(centre, on_scale.epistemic_variance)
    function_std = numpy.sqrt(library_layout(on_scale.epistemic_variance))
    noise_std = numpy.sqrt(library_layout(on_scale.aleatoric_variance))
    weights = _WEIGHTS[:, None, None]

    def given_function(node: Float[AnyArray, "..."] | float) -> tuple[Responses, Responses]:
        return moments_given(warp, centre + node * function_std, noise_std)

    if numpy is np and centre.size <= FEW:
        means, variances = given_function(_NODES[:, None, None])
    elif numpy is np:
        pairs = [given_function(float(node)) for node in _NODES]
        means, variances = (np.stack(part) for part in zip(*pairs, strict=True))
    else:
        means, variances = jax.lax.map(given_function, jnp.asarray(_NODES))
    mean = (weights * means).sum(axis=0)
    spread = (weights * (means - mean) ** 2).sum(axis=0)
    return mean, spread, (weights * variances).sum(axis=0)
