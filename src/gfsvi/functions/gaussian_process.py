"""The Gaussian process: a kernel and a mean function."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.means import AbstractMean, Zero, as_mean
from gfsvi.kernels.adapters import as_kernel
from gfsvi.kernels.base import AbstractKernel
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals


class GaussianProcess(AbstractRandomFunction):
    """Independent outputs that share one kernel.

    Args:
        kernel: The covariance of the function values; `as_kernel` converts it.
        mean: A mean function: a member of `gfsvi.functions.means`, a number, or a jax.numpy
            function from points (point, feature) to one value per point.
        outputs: The number of outputs.
    """

    kernel: AbstractKernel = eqx.field(converter=as_kernel)
    mean: AbstractMean = eqx.field(converter=as_mean, default=Zero())
    outputs: int = eqx.field(static=True, default=1)

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        x = jnp.asarray(x, jnp.float64)
        return Gaussian(self._mean_at(x), self.kernel.gram(x)[None])

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        x = jnp.asarray(x, jnp.float64)
        variance = self.kernel.diagonal(x)[:, None, None]
        return Marginals(self._mean_at(x), variance * jnp.eye(self.outputs))

    def _mean_at(self, x: Points) -> Float[Array, "output point"]:
        return jnp.broadcast_to(self.mean.at(x), (self.outputs, len(x)))
