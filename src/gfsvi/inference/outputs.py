"""Outputs: whether their number matches the observations, and random subsets of them."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork


def check_outputs(model: Model, data: Data, network: AbstractNetwork | None = None) -> None:
    """Raise if the observations are unusable or a function has the wrong number of outputs."""
    model.likelihood.check(np.asarray(data.y))
    needed = model.likelihood.num_outputs(data.y)
    if isinstance(model.function, BayesianNetwork):
        given, network = {}, model.function.network
    else:
        given = {"prior": _function_outputs(model, jnp.asarray(data.x[:1]))}
    if network is not None:
        given["network"] = _network_outputs(network, jnp.asarray(data.x[:1]))
    wrong = [f"a {what} with {count}" for what, count in given.items() if count != needed]
    if wrong:
        raise ValueError(
            f"{type(model.likelihood).__name__} needs {needed} function outputs for these "
            f"observations; got {' and '.join(wrong)}. Set outputs={needed} on "
            f"{' and '.join(given)}."
        )


def some_outputs(
    wanted: int | None, num_outputs: int, *, key: PRNGKeyArray
) -> Int[jax.Array, " k"] | None:
    """The indices of `wanted` random outputs; None if all of them are wanted.

    A sum over outputs is estimated without bias by `num_outputs / wanted` times the sum over
    these.
    """
    if wanted is None or wanted >= num_outputs:
        return None
    return jax.random.permutation(key, num_outputs)[:wanted]


def _function_outputs(model: Model, x: jax.Array) -> int:
    return jax.eval_shape(lambda: model.function.at(x)).mean.shape[0]


def _network_outputs(network: AbstractNetwork, x: jax.Array) -> int:
    key = jax.random.key(0)
    return jax.eval_shape(lambda: network.apply(network.init(x, key=key), x)).shape[-1]
