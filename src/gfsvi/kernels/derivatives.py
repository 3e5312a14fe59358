"""The covariance between the gradients of a function with a known covariance."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Scaled, Shifted, Sum
from gfsvi.kernels.distances import per_feature
from gfsvi.kernels.stationary import AbstractStationaryKernel

CLOSE = 1e-8
"""The squared distance, in length scales, down to which derivatives of Matern kernels are exact."""


def gradient_covariance(
    kernel: AbstractKernel, x: Float[Array, "n k"], z: Float[Array, "m k"]
) -> Float[Array, "n m k k"]:
    """d^2 k(x, z) / dx dz for all pairs, including coinciding points."""
    if isinstance(kernel, AbstractStationaryKernel):
        return _of_stationary(kernel, x, z)
    if isinstance(kernel, Sum):
        return jnp.sum(jnp.stack([gradient_covariance(k, x, z) for k in kernel.terms]), axis=0)
    if isinstance(kernel, Scaled):
        return kernel.variance * gradient_covariance(kernel.kernel, x, z)
    if isinstance(kernel, Shifted):  # a constant has no gradient
        return gradient_covariance(kernel.kernel, x, z)
    return _of_any(kernel, x, z)


def _of_stationary(kernel: AbstractStationaryKernel, x: Array, z: Array) -> Array:
    """With s the squared scaled distance and d = L (x - z): -variance (4 c'' d d' + 2 c' L)."""
    inverse = 1 / per_feature(kernel, "lengthscale", x)[0] ** 2
    inverse = jnp.broadcast_to(inverse, x.shape[1:])
    difference = x[:, None, :] - z[None, :, :]
    squared = jnp.sum(difference**2 * inverse, axis=-1)
    slope = jax.grad(lambda s: jnp.sum(kernel.correlation(s)))
    # At a positive distance the square root can be differentiated.
    squared = jnp.maximum(squared, CLOSE)
    first, second = jax.jvp(slope, (squared,), (jnp.ones_like(squared),))
    scaled = difference * inverse
    outer = scaled[..., :, None] * scaled[..., None, :]
    return -kernel.variance * (
        4 * second[..., None, None] * outer + 2 * first[..., None, None] * jnp.diag(inverse)
    )


def _of_any(kernel: AbstractKernel, x: Array, z: Array) -> Array:
    def at(one: Array, other: Array) -> Array:
        return kernel.cross(one[None], other[None])[0, 0]

    mixed = jax.jacfwd(jax.grad(at, argnums=0), argnums=1)
    return jax.vmap(lambda one: jax.vmap(lambda other: mixed(one, other))(z))(x)
