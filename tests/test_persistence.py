"""Model files: bit-exact, atomic, and never a traceback for a file that is not one."""

import dataclasses
import json
import math
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from gfsvi import covariances, kernels, likelihoods, means, networks, persistence
from gfsvi.data import Data
from gfsvi.functions import ConditionedProcess, GaussianProcess, LinearizedNetwork
from gfsvi.kernel import AbstractKernel
from gfsvi.methods import GFSVI
from gfsvi.model import Model
from gfsvi.persistence import ModelFileError, fingerprint, read, write
from gfsvi.points import FixedPoints, Mixture, UniformBox
from gfsvi.training import History, Training

X = np.random.default_rng(0).normal(size=(4, 2))
HISTORY = History({"objective": np.arange(3.0)}, np.array([2, 3]), np.array([-1.0, np.nan]), 2)


def linearized(covariance, dtype=np.float32) -> LinearizedNetwork:
    network = networks.MLP(hidden=(3,))
    draw = np.random.default_rng(1).normal
    params = (draw(size=(3, 3)).astype(dtype), draw(size=(4, 1)).astype(dtype))
    state = covariance.init(params, key=jax.random.key(1))
    return LinearizedNetwork(network, covariance, params, state)


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
    "method": GFSVI(dtype=jnp.float32, training=Training(num_steps=3)),
    "full_precision": linearized(covariances.Kronecker(), dtype=np.float64),
    "model": Model(linearized(covariances.Diagonal()), likelihoods.Normal([0.1, 0.2])),
}
CONTENTS |= {f"kernel_{name}": getattr(kernels, name)() for name in ("White", "LocallyPeriodic")}
CONTENTS |= {f"mean_{type(m).__name__}": m for m in (means.Zero(), means.Constant([1.0, 2.0]))}
CONTENTS |= {
    f"covariance_{name}": linearized(getattr(covariances, name)()) for name in covariances.__all__
}
CONTENTS |= {
    f"likelihood_{name}": kind()
    for name, kind in vars(likelihoods).items()
    if isinstance(kind, type) and kind is not likelihoods.CustomLikelihood
}
ACTIVATIONS = [jnp.tanh, jnp.sin, jnp.cos, jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.swish]
ACTIVATIONS += [jax.nn.softplus, jax.nn.sigmoid, jax.nn.elu, jax.nn.selu, jax.nn.leaky_relu]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", jnp.bfloat16]


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


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "model.gfsvi"


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> tuple[bytes, dict]:
    """The bytes of a small file, and what is in it."""
    content = {"model": Model(GaussianProcess(kernels.RBF([0.5, 2.0])), likelihoods.Normal())}
    content |= {"rows": np.arange(5), "name": "é", "score": math.inf}
    path = tmp_path_factory.mktemp("valid") / "model.gfsvi"
    write(path, content)
    return path.read_bytes(), content


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


def test_the_same_content_makes_the_same_bytes(path):
    written = []
    for _ in range(2):
        write(path, {"all": list(CONTENTS.values())})
        written.append(path.read_bytes())
    assert written[0] == written[1]


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


PREDICT = """
import sys, numpy as np
from gfsvi.persistence import read
content = read(sys.argv[1])
predictive = content["model"].predict(content["x"])
np.save(sys.argv[2], np.stack([predictive.mean, predictive.std]))
"""


def test_predictions_are_the_same_to_the_bit_in_a_new_process(path, tmp_path):
    model = Model(linearized(covariances.Kronecker()), likelihoods.Normal(0.3))
    write(path, {"model": model, "x": X})
    output = tmp_path / "predicted.npy"
    # Compiled with the settings of the tests: others may add up in another order.
    environment = os.environ | {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1", "JAX_ENABLE_X64": "1"}
    command = [sys.executable, "-c", PREDICT, str(path), str(output)]
    subprocess.run(command, check=True, env=environment)
    here = model.predict(X)
    assert np.load(output).tobytes() == np.stack([here.mean, here.std]).tobytes()


# What cannot be saved


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
    "partial": (jax.tree_util.Partial(jnp.tanh), "Of functions only activations.*tanh"),
    "own_kernel": (Mine(), "Mine at content\\['v'\\]. Use a class of gfsvi"),
    "own_dataclass": (Plain(), "Plain at"),
    "equinox": (networks.as_network(eqx.nn.Linear(1, 1, key=jax.random.key(0))), "use MLP"),
    "bare_function": (networks.FunctionNetwork(lambda p, x: x, {}), "use MLP"),
    "function_kernel": (_function_kernel(), "function"),
    "custom_density": (likelihoods.CustomLikelihood(lambda y, f: -y), "log_density"),
    "function_mean": (means.Function(lambda x: x[:, 0]), "function at"),
    "optimiser": (Training(optimizer=optax.adam(1e-3)), "GradientTransformation.* at .*optimizer"),
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


def test_endless_nesting_is_refused_in_words(path):
    endless: list = []
    endless.append(endless)
    with pytest.raises(ModelFileError, match="nested"):
        write(path, {"endless": endless})
    with pytest.raises(ModelFileError, match="nested"):
        fingerprint({"endless": endless})


def test_more_text_than_can_be_read_is_refused(path, monkeypatch):
    monkeypatch.setattr(persistence, "_MAX_HEADER", 1000)
    with pytest.raises(ModelFileError, match="at most 1,000 bytes of text"):
        write(path, {"long": "a" * 2000})
    assert not path.exists()


# Writing


def test_a_failure_leaves_the_old_file_and_no_other(path, monkeypatch):
    write(path, {"a": 1})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match="cannot be written: No space left on device"):
        write(path, {"a": 2})
    assert read(path) == {"a": 1}
    assert os.listdir(path.parent) == [path.name]


def test_an_interruption_leaves_the_old_file_and_no_other(path, monkeypatch):
    write(path, {"a": 1})

    def interrupt(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, {"a": 2})
    assert read(path) == {"a": 1}
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("place", [".", "no_such_folder/model.gfsvi", "a\0b"])
def test_a_path_that_cannot_be_written_is_refused(tmp_path, place):
    with pytest.raises(ModelFileError, match="cannot be written"):
        write(tmp_path / place, {})
    assert os.listdir(tmp_path) == []


def test_a_pipe_or_device_is_not_replaced_by_a_file(path):
    os.mkfifo(path)
    with pytest.raises(ModelFileError, match="model.gfsvi cannot be written: it is not a file"):
        write(path, {})
    assert path.is_fifo()


def test_others_may_read_the_file_as_usual(path):
    write(path, {})
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(path, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(path)
    write(link, {"a": 1})
    assert link.is_symlink() and read(path) == read(link) == {"a": 1}


# Reading what is not a model


def _refused(path: Path, data: bytes, match: str) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=match) as caught:
        read(path)
    assert str(path) in str(caught.value)


def _changed(path: Path, data: bytes, **changes) -> bytes:
    """The same file with other header fields, its checksum made to fit."""
    tensors = safetensors.numpy.load(data)
    header = json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
                        ["__metadata__"]["gfsvi"])  # fmt: skip
    header = {**header, **changes}
    del header["checksum"]
    header["checksum"] = persistence._digest(header, [tensors[n] for n in sorted(tensors)])
    return safetensors.numpy.save(tensors, metadata={"gfsvi": json.dumps(header)})


def test_a_missing_file_and_a_directory_are_named(tmp_path):
    with pytest.raises(ModelFileError, match="none.gfsvi cannot be read: No such file"):
        read(tmp_path / "none.gfsvi")
    with pytest.raises(ModelFileError, match="cannot be read: it is not a file"):
        read(tmp_path)
    with pytest.raises(ModelFileError, match="null"):
        read("a\0b")


def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a file"):
        read(tmp_path / "pipe")


class Trap:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a pickle was opened')",))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_is_never_opened(path, protocol):
    _refused(path, pickle.dumps(Trap(), protocol=protocol), "is a pickle and is never opened")


def test_a_zip_of_pickles_is_never_opened(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Trap()))
    _refused(path, path.read_bytes(), "is a pickle and is never opened")


def test_a_model_whose_first_bytes_look_like_a_pickle_is_read(path):
    first_bytes = set()
    for length in range(0, 300, 8):
        content = {"text": "a" * length}
        write(path, content)
        first_bytes.add(path.read_bytes()[0])
        assert read(path) == content
    assert 0x80 in first_bytes


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"", "is empty"),
        (b"a,b\n1,2\n3,4\n", "is something else"),
        (b"12345678{}", "damaged or foreign"),
        (pickle.dumps(Trap(), protocol=0), "is something else"),
        (safetensors.numpy.save({"a": np.ones(2)}), "safetensors file of another program"),
        (safetensors.numpy.save({"a": np.ones(2)}, metadata={"gfsvi": "[1]"}), "foreign"),
        (safetensors.numpy.save({}, metadata={"gfsvi": "[" * 100_000}), "foreign"),
        (safetensors.numpy.save({}, metadata={"gfsvi": '{"format": 1}'}), "damaged"),
        (safetensors.numpy.save({}, metadata={"gfsvi": '{"format": "x"}'}), "its format is 'x'"),
        (safetensors.numpy.save({}, metadata={"gfsvi": '{"format": true}'}), "its format is True"),
        (b"\xff" * 8 + b"{" + b"[" * 10**5, "foreign"),
        (safetensors.numpy.save({}, metadata={"gfsvi": f"{{{'1' * 9999}"}), "foreign"),
    ],
)
def test_foreign_files_are_refused_in_words(path, data, match):
    _refused(path, data, match)


def test_a_newer_format_asks_for_an_update(path, valid):
    message = "has format 2, this library reads up to 1: update gfsvi"
    _refused(path, _changed(path, valid[0], format=2), message)


def test_another_kind_of_file_is_told(path):
    write(path, {"step": 3}, kind="checkpoint")
    assert read(path, kind="checkpoint") == {"step": 3}
    with pytest.raises(ModelFileError, match="holds a model; .* holds a checkpoint"):
        read(path)


def test_changes_with_a_fitting_checksum_are_read(path, valid):
    path.write_bytes(_changed(path, valid[0], content={"dict": [["a", 1]]}))
    assert read(path) == {"a": 1}


RBF = "gfsvi.kernels.rbf.RBF"
NUMBER = {"array": 0, "dtype": "float64"}
FORGED = {
    "stranger": ({"class": "os.system", "fields": {}}, "no class that this version can load"),
    "other_module": ({"class": "gfsvi.cli.main", "fields": {}}, "no class"),
    "imported": ({"class": "gfsvi.kernels.rbf.AbstractStationaryKernel", "fields": {}}, "no class"),
    "abstract": ({"class": "gfsvi.kernel.AbstractKernel", "fields": {}}, "no class"),
    "function": ({"class": "gfsvi.kernel.as_rows", "fields": {}}, "no class"),
    "not_a_dataclass": ({"class": "gfsvi.training.Progress", "fields": {}}, "no class"),
    "dotted": ({"class": "gfsvi.kernels.rbf.jnp.array", "fields": {}}, "no class"),
    "relative": ({"class": ".rbf.RBF", "fields": {}}, "no class"),
    "number": ({"class": 1, "fields": {}}, "malformed"),
    "list": ({"class": [], "fields": {}}, "malformed"),
    "missing_field": (
        {"class": RBF, "fields": {"variance": NUMBER}},
        "RBF expects the fields lengthscale, variance; got variance.*written by gfsvi",
    ),
    "extra_field": (
        {"class": RBF, "fields": {"variance": NUMBER, "lengthscale": NUMBER, "__class__": 1}},
        "RBF expects the fields",
    ),
    "no_fields": ({"class": RBF}, "malformed"),
    "check": (
        {"class": "gfsvi.kernel.ActiveDimensions", "fields": {"kernel": 1, "dimensions": [-1]}},
        "expects their numbers, counted from 0",
    ),
    "check_of_an_ancestor": (
        {"class": RBF, "fields": {"variance": NUMBER, "lengthscale": 1.0}},
        "RBF expects one number as variance",
    ),
    "activation": ({"function": "system"}, "holds the function 'system'"),
    "unknown_tag": ({"complex": [1, 2]}, "malformed|holds the complex"),
    "no_tag": ({}, "damaged"),
    "no_such_array": ({"array": 99, "dtype": "float64"}, "malformed"),
    "no_such_dtype": ({"array": 0, "dtype": "object"}, "malformed"),
    "key": ({"key": "mine", "data": NUMBER}, "holds the key"),
    "key_data": ({"key": "rbg", "data": NUMBER}, "malformed|cannot be read"),
    "unhashable": ({"dict": [[[1], 2]]}, "malformed"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_content_runs_nothing(path, name):
    node, match = FORGED[name]
    write(path, {"numbers": np.ones(2)})
    data = _changed(path, path.read_bytes(), content={"dict": [["v", node]]})
    _refused(path, data, match)


def test_forged_content_imports_nothing(path):
    before = set(sys.modules)
    write(path, {})
    for name in ("antigravity.Class", "gfsvi.__main__.Class", "gfsvi.kernels.../x.Class"):
        node = {"class": name, "fields": {}}
        data = _changed(path, path.read_bytes(), content={"dict": [["v", node]]})
        _refused(path, data, "no class")
        write(path, {})
    assert "antigravity" not in set(sys.modules) - before
    assert "gfsvi.__main__" not in sys.modules


def test_damage_is_found_wherever_it_is(path, valid):
    data, _ = valid
    broken = bytearray(data)
    broken[-1] ^= 1
    _refused(path, bytes(broken), "its checksum does not fit")
    _refused(path, data.replace(b"gfsvi.kernels.rbf", b"gfsvi.kernels.rbg"), "checksum")
    _refused(path, data.replace(b'"shape":[5]', b'"shape":[6]'), "damaged")
    _refused(path, data[: len(data) // 2], "damaged")
    _refused(path, data + b"\0", "damaged")
    tensors = safetensors.numpy.load(data)
    del tensors["000000"]
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    _refused(path, safetensors.numpy.save(tensors, metadata=header), "damaged")


def _whole_or_refused(path: Path, data: bytes, content: dict) -> None:
    path.write_bytes(data)
    try:
        after = read(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
    else:
        assert_same(after, content)


@settings(max_examples=300)
@given(data=st.data())
def test_flipped_bytes_never_go_unnoticed(tmp_path_factory, valid, data):
    whole, content = valid
    path = tmp_path_factory.getbasetemp() / "flipped"
    broken = bytearray(whole)
    flips = st.tuples(st.integers(0, len(whole) - 1), st.integers(1, 255))
    for position, change in data.draw(st.lists(flips, min_size=1, max_size=3)):
        broken[position] ^= change
    _whole_or_refused(path, bytes(broken), content)


@settings(max_examples=60)
@given(data=st.data())
def test_cut_and_stretched_files_never_go_unnoticed(tmp_path_factory, valid, data):
    whole, content = valid
    path = tmp_path_factory.getbasetemp() / "cut"
    end = data.draw(st.integers(0, len(whole)))
    _whole_or_refused(path, whole[:end] + data.draw(st.binary(max_size=9)), content)


# Fingerprints


def test_equal_content_has_one_fingerprint():
    once, again = ({"k": kernels.RBF([1.0, 2.0]), "x": X.copy()} for _ in range(2))
    assert fingerprint(once) == fingerprint(again) == fingerprint({**once, "x": jnp.asarray(X)})
    assert len(fingerprint(once)) == 64


@pytest.mark.parametrize(
    "other",
    [
        {"x": X.astype(np.float32)},
        {"x": X.reshape(2, 4)},
        {"x": np.nextafter(X, 9)},
        {"x": list(X)},
        {"y": X},
        {"x": X, "k": 1},
        {"x": X, "k": 1.0},
        {"x": X, "k": True},
        {"x": X, "k": "1"},
        {"x": X, "k": (1,)},
        {"x": X, "k": kernels.RBF()},
        {"x": X, "k": kernels.Matern52()},
    ],
)
def test_any_difference_changes_the_fingerprint(other):
    contents = [{"x": X}, {"x": X, "k": [1]}, {"x": X, "k": kernels.RBF(2.0)}]
    assert fingerprint(other) not in map(fingerprint, contents)
