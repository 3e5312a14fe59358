"""The Gaussian process: a kernel and a mean function."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.means import AbstractMean, Zero
from gfsvi.kernels.base import AbstractKernel
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals


class GaussianProcess(AbstractRandomFunction):
    """Independent outputs that share one kernel."""

    kernel: AbstractKernel
    mean: AbstractMean = Zero()
    outputs: int = eqx.field(static=True, default=1)

    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        x = jnp.asarray(x, jnp.float64)
        return Gaussian(self._mean_at(x), self.kernel.gram(x)[None])

    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        x = jnp.asarray(x, jnp.float64)
        variance = self.kernel.diagonal(x)[:, None, None]
        return Marginals(self._mean_at(x), variance * jnp.eye(self.outputs))

    def _mean_at(self, x: Points) -> Float[Array, "output point"]:
        return jnp.broadcast_to(self.mean.at(x), (self.outputs, len(x)))
