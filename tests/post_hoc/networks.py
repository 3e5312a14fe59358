"""One trained network, written for every framework."""

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from sklearn.neural_network import MLPRegressor

from gfsvi import Data
from gfsvi.networks import MLP

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 3)).astype(np.float32)
TRAINED = MLPRegressor(
    hidden_layer_sizes=(6,),
    activation="tanh",
    solver="lbfgs",
    alpha=0.1,
    random_state=0,
    max_iter=9999,
)
Y = np.sin(X[:, 0]) + 0.1 * RANDOM.normal(size=60)
TRAINED.fit(X, Y)
(A, B), (a, b) = (
    [np.asarray(part, np.float32) for part in parts]
    for parts in (TRAINED.coefs_, TRAINED.intercepts_)
)
TRAINED.coefs_, TRAINED.intercepts_ = [A, B], [a, b]
DATA = Data(X, Y)


class Linen(nn.Module):
    @nn.compact
    def __call__(self, x):
        hidden = jnp.tanh(nn.Dense(6)(x))
        return nn.Dense(1)(hidden)


class NNX(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.first, self.last = nnx.Linear(3, 6, rngs=rngs), nnx.Linear(6, 1, rngs=rngs)
        for layer, matrix, bias in ((self.first, A, a), (self.last, B, b)):
            layer.kernel[...], layer.bias[...] = jnp.asarray(matrix), jnp.asarray(bias)

    def __call__(self, x):
        return self.last(jnp.tanh(self.first(x)))


def equinox_network():
    network = eqx.nn.MLP(3, 1, 6, 1, jnp.tanh, key=jax.random.key(0))

    def weights(module):
        return [part for layer in module.layers for part in (layer.weight, layer.bias)]

    return eqx.tree_at(weights, network, [A.T, a, B.T, b])


def haiku_network(x):
    return hk.nets.MLP([6, 1], activation=jnp.tanh)(x)


def plain(params, x):
    return jnp.tanh(x @ params["A"] + params["a"]) @ params["B"] + params["b"]


PLAIN = {"A": A, "a": a, "B": B, "b": b}
LINEN = {"Dense_0": {"kernel": A, "bias": a}, "Dense_1": {"kernel": B, "bias": b}}
HAIKU = {"mlp/~/linear_0": {"w": A, "b": a}, "mlp/~/linear_1": {"w": B, "b": b}}
OURS = (np.vstack([A, a]), np.vstack([B, b]))

NETWORKS = {
    "equinox": (equinox_network(), None),
    "nnx": (NNX(), None),
    "linen": (Linen(), LINEN),
    "linen's variables": (Linen(), {"params": LINEN}),
    "haiku": (hk.without_apply_rng(hk.transform(haiku_network)), HAIKU),
    "function": (plain, PLAIN),
    "scikit-learn": (TRAINED, None),
    "ours": (MLP((6,)), OURS),
}
