"""Where the training of a network begins."""

from typing import Any, Protocol, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.types import Points

MAX_SCALED_FEATURES = 256
"""Networks start out varying on the prior's length scales for up to this many features."""
MAX_NOISE_ROWS = 2000
"""More rows than this are not needed to start the noise."""

F_co = TypeVar("F_co", covariant=True)


class _NetworkFunction(Protocol[F_co]):
    def __call__(
        self, network: AbstractNetwork, covariance: AbstractCovariance, params: Params, state: State
    ) -> F_co: ...


# Compiled whole: one by one, the small operations of a beginning take longer than training.
@jit_fast_compile
def random_start(
    kind: _NetworkFunction[F_co],
    network: AbstractNetwork,
    covariance: AbstractCovariance,
    x: Points,
    dtype: Any,
    lengths: Float[Array, " feature"] | None = None,
    *,
    key: PRNGKeyArray,
) -> F_co:
    """A small covariance around random weights, for inputs like `x`."""
    network_key, covariance_key = jax.random.split(key)
    params = network.init(x, key=network_key, dtype=dtype, lengths=lengths)
    return kind(network, covariance, params, covariance.init(params, key=covariance_key))


def posterior_network(
    prior: BayesianNetwork, covariance: AbstractCovariance, data: Data, *, key: PRNGKeyArray
) -> BayesianNetwork:
    """A small covariance around random weights of the network that the prior is about."""
    dtype = jax.tree.leaves(prior.params)[0].dtype
    x = jnp.asarray(data.x)
    return random_start(BayesianNetwork, prior.network, covariance, x, dtype, key=key)
