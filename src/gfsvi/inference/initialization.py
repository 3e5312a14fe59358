"""The initial posterior of a network."""

from typing import Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.in_numpy import is_in_numpy
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.randomness import generator
from gfsvi.numerics.types import Points
from gfsvi.plain.networks import random_network

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


def initial_network(
    kind: _NetworkFunction[F_co],
    network: AbstractNetwork,
    covariance: AbstractCovariance,
    x: np.ndarray,
    dtype: DTypeLike,
    lengths: Float[Array, " feature"] | None = None,
    *,
    key: PRNGKeyArray,
) -> F_co:
    """As `random_start`, with weights that are drawn in NumPy where the network allows it."""
    if not isinstance(network, MLP) or not is_in_numpy(network) or np.ndim(x) != 2:
        return random_start(kind, network, covariance, jnp.asarray(x), dtype, lengths, key=key)
    random = generator(key)
    widths = (*network.hidden, network.outputs)
    drawn = random_network(x, widths, None if lengths is None else np.asarray(lengths), random)
    params = tuple(np.asarray(matrix, dtype) for matrix in drawn.matrices)
    return kind(network, covariance, params, covariance.init(params, key=key))


def posterior_network(
    prior: BayesianNetwork, covariance: AbstractCovariance, data: Data, *, key: PRNGKeyArray
) -> BayesianNetwork:
    """A small covariance around random weights of the prior's network."""
    dtype = jax.tree.leaves(prior.params)[0].dtype
    x = jnp.asarray(data.x)
    return random_start(BayesianNetwork, prior.network, covariance, x, dtype, key=key)
