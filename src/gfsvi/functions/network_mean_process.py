"""A Gaussian process whose mean is a network."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.sparse_process import SparseProcess
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals


class NetworkMeanProcess(AbstractRandomFunction):
    """The Gaussian process with mean f(x; params) and the covariance of a sparse process."""

    network: AbstractNetwork
    params: Params
    spread: SparseProcess

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        return Gaussian(self._mean_at(x), self.spread.at(x).cov)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        return Marginals(self._mean_at(x), self.spread.marginals(x).cov)

    def _mean_at(self, x: Points) -> Float[Array, "output point"]:
        dtype = jax.tree.leaves(self.params)[0].dtype
        return self.network.apply(self.params, jnp.asarray(x, dtype)).T.astype(jnp.float64)
