"""Whether prior and network have as many outputs as the observations need."""

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.model import Model
from gfsvi.network import AbstractNetwork


def check_outputs(model: Model, data: Data, network: AbstractNetwork | None = None) -> None:
    """Refuse, in words, observations that make no sense, or a function with other outputs."""
    model.likelihood.check(np.asarray(data.y))
    needed = model.likelihood.num_outputs(data.y)
    if isinstance(model.function, BayesianNetwork):
        given, network = {}, model.function.network
    else:
        given = {"prior": model.function.outputs}
    if network is not None:
        given["network"] = _network_outputs(network, jnp.asarray(data.x[:1]))
    wrong = [f"a {what} with {count}" for what, count in given.items() if count != needed]
    if wrong:
        raise ValueError(
            f"{type(model.likelihood).__name__} needs {needed} function outputs for these "
            f"observations; got {' and '.join(wrong)}. Set outputs={needed} on "
            f"{' and '.join(given)}."
        )


def _network_outputs(network: AbstractNetwork, x: jax.Array) -> int:
    key = jax.random.key(0)
    return jax.eval_shape(lambda: network.apply(network.init(x, key=key), x)).shape[-1]
