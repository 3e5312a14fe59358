"""The initial posterior of a network."""

from typing import Protocol, TypeVar

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.types import Points

MAX_SCALED_FEATURES = 256
"""For up to this many features, networks initially vary on the prior's length scales."""
MAX_NOISE_ROWS = 2000
"""Number of rows that suffice to initialise the noise."""

F_co = TypeVar("F_co", covariant=True)


class _NetworkFunction(Protocol[F_co]):
    def __call__(
        self, network: AbstractNetwork, covariance: AbstractCovariance, params: Params, state: State
    ) -> F_co: ...


# Compiled as a whole: separately, these small operations would take longer than training.
@jit_fast_compile
def random_start(
    kind: _NetworkFunction[F_co],
    network: AbstractNetwork,
    covariance: AbstractCovariance,
    x: Points,
    dtype: DTypeLike,
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
    """A small covariance around random weights of the prior's network."""
    dtype = jax.tree.leaves(prior.params)[0].dtype
    x = jnp.asarray(data.x)
    return random_start(BayesianNetwork, prior.network, covariance, x, dtype, key=key)
