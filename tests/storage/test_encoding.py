"""Everything comes back bit for bit; what cannot be saved is named in the error."""

import dataclasses
import math
import os
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi import kernels, likelihoods, networks
from gfsvi.functions import means
from gfsvi.kernels.base import AbstractKernel
from gfsvi.storage.model_file import ModelFileError, read, write
from gfsvi.training import Optax
from gfsvi.training.settings import Training

from .model_contents import CONTENTS, X, assert_same

ACTIVATIONS = [jnp.tanh, jnp.sin, jnp.cos, jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.swish]
ACTIVATIONS += [jax.nn.softplus, jax.nn.sigmoid, jax.nn.elu, jax.nn.selu, jax.nn.leaky_relu]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", jnp.bfloat16]


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.gfsvi"


def round_trip(path: Path, value):
    write(path, {"value": value})
    return read(path)["value"]


@pytest.mark.parametrize("name", CONTENTS)
def test_everything_comes_back_to_the_bit(path, name):
    assert_same(round_trip(path, CONTENTS[name]), CONTENTS[name])


def test_modules_are_the_same_trees_afterwards(path):
    before = jax.tree.map(np.asarray, CONTENTS["model"])
    after = round_trip(path, before)
    assert jax.tree.structure(after) == jax.tree.structure(before)
    assert eqx.tree_equal(after, before)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_keep_shape_and_precision(path, dtype, shape):
    array = np.arange(math.prod(shape)).reshape(shape).astype(dtype)
    assert_same(round_trip(path, array), array)


def test_arrays_of_any_memory_layout_come_back(path):
    layouts = [X.T, X[::-1], np.asfortranarray(X), X.astype(">f8"), np.broadcast_to(X[0], (3, 2))]
    for after, before in zip(round_trip(path, layouts), layouts, strict=True):
        np.testing.assert_array_equal(after, before)


def test_loaded_arrays_may_be_changed(path):
    array = round_trip(path, np.arange(3))
    array[0] = 7
    assert array[0] == 7


def test_bits_of_a_nan_are_kept(path):
    array = np.array([0x7FF8000000000123, 0xFFF8000000000001], np.uint64).view(np.float64)
    assert_same(round_trip(path, array), array)


def test_arrays_of_text_become_lists(path):
    texts = [np.array(["a", "bc"]), np.array(["a", None], object), np.array("a")]
    assert round_trip(path, texts) == [["a", "bc"], ["a", None], "a"]


@pytest.mark.parametrize("kind", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_random_keys_go_on_where_they_were(path, kind):
    keys = jax.random.split(jax.random.key(3, impl=kind), 2)
    again = round_trip(path, keys)
    assert again.dtype == keys.dtype
    np.testing.assert_array_equal(jax.random.key_data(again), jax.random.key_data(keys))


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_are_saved_by_name(path, activation):
    assert round_trip(path, networks.MLP(activation=activation)).activation is activation


@pytest.mark.parametrize("dtype", [jnp.float32, np.float64, np.dtype("int32"), jnp.bfloat16])
def test_precisions_are_saved_by_name(path, dtype):
    assert round_trip(path, dtype) == np.dtype(dtype)


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(tree=trees)
def test_any_tree_comes_back(tmp_path_factory, tree):
    path = tmp_path_factory.mktemp("tree") / "model"
    assert_same(round_trip(path, tree), tree)


class Mine(AbstractKernel):
    scale: float = 1.0
    cross = gram = diagonal = lambda self, *x: None  # pyright: ignore[reportAssignmentType]


@dataclasses.dataclass(frozen=True)
class Plain:
    value: int = 1


def _function_kernel():
    return kernels.as_kernel(lambda x, z: jnp.exp(-jnp.sum((x - z) ** 2)))


REFUSED = {
    "lambda": (networks.MLP(activation=lambda x: x), "function at content\\['v'\\].activation"),
    "partial": (jax.tree_util.Partial(jnp.tanh), "only functions that can be saved are .*tanh"),
    "own_kernel": (Mine(), "Mine at content\\['v'\\]. Use a class listed in"),
    "own_dataclass": (Plain(), "Plain at"),
    "equinox": (networks.as_network(eqx.nn.Linear(1, 1, key=jax.random.key(0))), "use MLP"),
    "bare_function": (networks.FunctionNetwork(lambda p, x: x, {}), "use MLP"),
    "function_kernel": (
        _function_kernel(),
        "FunctionKernel at .*Use a class listed",
    ),
    "custom_density": (likelihoods.CustomLikelihood(lambda y, f: -y), "log_density"),
    "function_mean": (means.Function(lambda x: x[:, 0]), "function at"),
    "optimiser": (Training(optimizer=Optax(optax.adam(1e-3))), "GradientTransf.* at .*optimizer"),
    "class": (kernels.RBF, "got a .* at"),
    "bytes": (b"a", "got a bytes at content\\['v'\\]. Leave it out"),
    "set": ({1}, "got a set"),
    "path": (Path("a"), "PosixPath"),
    "complex": (np.ones(2, complex), "Turn complex128 into real numbers"),
    "dates": (np.array(["2020-01-01"], "datetime64[D]"), "datetime64"),
    "long_double": (np.ones(1, np.longdouble), "real numbers"),
    "masked": (np.ma.array([1, 2], mask=[True, False]), "MaskedArray"),
    "object_in_array": (np.array([Path("a")], object), "PosixPath at content\\['v'\\]\\[0\\]"),
    "key": ({(1, 2): 3}, "Use text or whole numbers as keys"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_saved_is_named_and_nothing_is_written(path, name):
    value, expected = REFUSED[name]
    path.write_bytes(b"before")
    with pytest.raises(ModelFileError, match=expected):
        write(path, {"v": value})
    assert path.read_bytes() == b"before"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("content", [[1], None, kernels.RBF()])
def test_content_must_be_a_dictionary(path, content):
    with pytest.raises(ModelFileError, match="expects a dictionary; got a"):
        write(path, content)


def test_a_sum_over_many_features_can_be_saved(path):
    total = sum(kernels.RBF().on(i) for i in range(50))
    assert_same(round_trip(path, total), total)
