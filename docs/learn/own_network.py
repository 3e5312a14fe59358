"""Bring your own network.

Any function `apply(params, x)` can have a Gaussian-process prior. This tutorial fits a residual
network written in Equinox, the same network in Flax, and a plain function, all under one prior.
"""

# ## Data with a gap
#
# A smooth curve, observed to the left and right of a gap.

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, ExactGP
from gfsvi.networks import as_network
from gfsvi.points import LowDiscrepancy

random = np.random.default_rng(0)
x = np.concatenate([random.uniform(-2, -0.5, 40), random.uniform(0.8, 2, 40)])[:, None]
data = Data(x, np.sin(3 * x[:, 0]) + 0.1 * random.normal(size=80))
prior = Model(GaussianProcess(Matern52(lengthscale=0.7)), Normal(0.1))

# ## In Equinox
#
# An Equinox module maps **one** example to its outputs; `as_network` applies it to each row.
# Training starts from the module's own weights.

import equinox as eqx


class Residual(eqx.Module):
    """A network whose hidden layers add to their input."""

    first: eqx.nn.Linear
    hidden: tuple[eqx.nn.Linear, ...]
    last: eqx.nn.Linear

    def __init__(self, width: int, depth: int, *, key: jax.Array):
        first_key, last_key, *keys = jax.random.split(key, depth + 2)
        self.first = eqx.nn.Linear(1, width, key=first_key)
        self.hidden = tuple(eqx.nn.Linear(width, width, key=k) for k in keys)
        self.last = eqx.nn.Linear(width, 1, key=last_key)

    def __call__(self, x: jax.Array) -> jax.Array:
        h = jnp.tanh(self.first(x))
        for layer in self.hidden:
            h = h + jnp.tanh(layer(h))
        return self.last(h)


in_equinox = as_network(Residual(20, 2, key=jax.random.key(1)))

# ## In Flax
#
# A Flax module, NNX as here or linen, maps **all** rows at once. Nothing else differs.

from flax import nnx


class FlaxResidual(nnx.Module):
    """The same network in Flax NNX."""

    def __init__(self, width: int, depth: int, *, rngs: nnx.Rngs):
        self.first = nnx.Linear(1, width, rngs=rngs)
        self.hidden = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(depth)])
        self.last = nnx.Linear(width, 1, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        h = jnp.tanh(self.first(x))
        for layer in self.hidden:
            h = h + jnp.tanh(layer(h))
        return self.last(h)


in_flax = as_network(FlaxResidual(20, 2, rngs=nnx.Rngs(1)))

# ## As a function
#
# Without a framework, you need a function of parameters and rows, and the parameters to start from.

from gfsvi.networks import FunctionNetwork


def two_layers(params: dict, x: jax.Array) -> jax.Array:
    """One hidden layer of tanh units."""
    return jnp.tanh(x @ params["first"] + params["bias"]) @ params["last"]


start = {
    "first": 2.0 * random.normal(size=(1, 60)),
    "bias": 2.0 * random.normal(size=60),
    "last": random.normal(size=(60, 1)) / 60**0.5,
}
as_function = FunctionNetwork(two_layers, start)

# ## One prior for all
#
# The method does not know where a network comes from.

posteriors = {}
for name, network in {"Equinox": in_equinox, "Flax": in_flax, "function": as_function}.items():
    method = GFSVI(network, points=LowDiscrepancy(50, -3.0, 3.0), gamma=1e-8)
    posteriors[name] = method(prior, data, key=jax.random.key(0)).posterior

# All three should agree with the exact process: uncertain in the gap and outside, certain where
# there are observations.

exact = ExactGP()(prior, data, key=jax.random.key(0)).posterior
where = np.array([[-1.0], [0.15], [3.0]])
print("standard deviation at   -1.0   0.15   3.0")
for name, posterior in {"exact process": exact, **posteriors}.items():
    near, gap, outside = posterior.predict(where).epistemic_std
    print(f"{name:<20} {near:7.2f} {gap:6.2f} {outside:6.2f}")

# They agree near the data, and differ a little where only prior and architecture matter: each is as
# close to the prior as its weights allow.
#
# ## Limits
#
# The library's own `MLP` and `CNN` know their layers, so that derivatives need not be computed
# weight by weight: prefer them where they are sufficient. Networks that keep state (batch
# normalisation) or draw random numbers (dropout) are not accepted: switch these layers off first.
# Networks of other frameworks cannot be saved to model files.
