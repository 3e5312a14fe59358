"""What a model file may hold, and what it means to come back."""

import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi import covariances, kernels, likelihoods, networks, registry
from gfsvi.data import Data
from gfsvi.functions import ConditionedProcess, GaussianProcess, LinearizedNetwork, means
from gfsvi.methods import GFSVI
from gfsvi.model import Model
from gfsvi.points import FixedPoints, Mixture, UniformBox
from gfsvi.tables import Categories, Date, Dropped, Numeric, Preparation
from gfsvi.training.history import History
from gfsvi.training.settings import Training

X = np.random.default_rng(0).normal(size=(4, 2))
HISTORY = History({"objective": np.arange(3.0)}, np.array([2, 3]), np.array([-1.0, np.nan]), 2)
PREPARATION = Preparation(
    task="classification",
    target=("y",),
    classes=("a", 2, 0.5, True),
    columns=(
        Numeric("n", 0.5, has_missing=True, missing_words=("gone",)),
        Date("d", "2020-01-02T00:00:00.000", 3.0, has_missing=False),
        Categories("c", ("red", "blue"), has_other=True, has_missing=False),
        Dropped("id", "it counts the rows"),
    ),
    notes=("column `id` left out: it counts the rows.",),
)


def linearized(covariance, dtype=np.float32) -> LinearizedNetwork:
    network = networks.MLP(hidden=(3,))
    draw = np.random.default_rng(1).normal
    params = (draw(size=(3, 3)).astype(dtype), draw(size=(4, 1)).astype(dtype))
    state = covariance.init(params, key=jax.random.key(1))
    return LinearizedNetwork(network, covariance, params, state)


def computed() -> Model:
    """A posterior in closed form."""
    prior = Model(GaussianProcess(kernels.RBF()), likelihoods.Normal(0.1))
    method = GFSVI(networks.MLP((3,)), points=UniformBox(2), mean=None)
    return method(prior, Data(X, X[:, 0]), key=jax.random.key(0)).posterior


def conditioned() -> ConditionedProcess:
    return ConditionedProcess(GaussianProcess(kernels.RBF()), X, np.eye(4)[None], np.ones((1, 4)))


CONTENTS = {
    "plain": [None, True, 1, -(2**70), 0.1, -0.0, 5e-324, "", "a\0\ud800 é\n", [], (), {}, ([1],)],
    "dictionary": {"z": 1, "a": {3: (1, 2), None: 0.5}, "": [{}]},
    "infinities": [math.nan, math.inf, -math.inf, {"float": "nan"}, {"array": 0}],
    "numpy_scalars": [np.float32(0.1), np.float64(0.1), np.int8(3), np.bool_(True)],
    "scaled_features": kernels.RBF([0.1, 2.0], 3.0),
    "algebra": 2.0 * kernels.RBF(0.3) + kernels.Periodic() * kernels.Matern32().on(0, 1) + 0.5,
    "process": GaussianProcess(kernels.Matern52(), means.Linear([1.0, 2.0]), outputs=2),
    "conditioned": conditioned(),
    "custom_points": Mixture((FixedPoints(X), UniformBox(5, -1.0, 1.0))),
    "data": Data(X, np.arange(4)),
    "history": HISTORY,
    "preparation": PREPARATION,
    "method": GFSVI(dtype=jnp.float32, points=UniformBox(7)),
    "trained_method": GFSVI(covariance=covariances.Kronecker(), training=Training(num_steps=3)),
    "full_precision": linearized(covariances.Kronecker(), dtype=np.float64),
    "computed": computed(),
    "model": Model(linearized(covariances.Diagonal()), likelihoods.Normal([0.1, 0.2])),
}
CONTENTS |= {f"kernel_{name}": getattr(kernels, name)() for name in ("White", "LocallyPeriodic")}
CONTENTS |= {f"mean_{type(m).__name__}": m for m in (means.Zero(), means.Constant([1.0, 2.0]))}
CONTENTS |= {
    f"covariance_{name}": linearized(registry.find("covariances", name)())
    for name in registry.names("covariances")
    if name != "closed_form"  # whose posterior is another function
}
CONTENTS |= {
    f"likelihood_{name}": registry.find("likelihoods", name)()
    for name in registry.names("likelihoods")
    if name != "custom_likelihood"  # needs a function, which no file can hold
}


def assert_same(after, before) -> None:
    """Equal in kind and to the bit; arrays come back as NumPy."""
    if isinstance(before, np.ndarray | jax.Array):
        assert type(after) is np.ndarray
        assert (after.dtype, after.shape) == (before.dtype, before.shape)
        assert after.tobytes() == np.asarray(before).tobytes()
    elif isinstance(before, list | tuple):
        assert type(after) is type(before) and len(after) == len(before)
        for pair in zip(after, before, strict=True):
            assert_same(*pair)
    elif isinstance(before, dict):
        assert list(after) == list(before)
        assert_same(list(after.values()), list(before.values()))
    elif dataclasses.is_dataclass(before) and not isinstance(before, type):
        assert type(after) is type(before)
        for field in dataclasses.fields(before):
            assert_same(getattr(after, field.name), getattr(before, field.name))
    else:
        is_dtype = isinstance(after, np.dtype)  # for float32 and jnp.float32 alike
        assert is_dtype or type(after) is type(before)
        assert after == before or (before != before and after != after)
        assert is_dtype or str(after) == str(before)  # tells -0.0 from 0.0
