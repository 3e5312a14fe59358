"""Every program that a fit and its predictions compile is one for CPUs, GPUs and TPUs."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest
from jax.core import Tracer

from gfsvi.auto import Learner, Parameters, recipe_for
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference import on_devices
from gfsvi.inference.conjugate import Interpolation, tangents_of
from gfsvi.kernels import Matern52
from gfsvi.networks import MLP
from gfsvi.numerics.devices import mesh_of

PLATFORMS = ("cpu", "cuda", "tpu")
SMALL = Parameters(
    hidden=(4,), num_steps=2, num_points=12, random_state=0, prior_mean=None, kernel="rbf"
)


class Programs:
    """The programs that Equinox calls, each of which is exported for all platforms."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.names: set[str] = set()
        self._call = eqx._jit._call
        monkeypatch.setattr(eqx._jit, "_call", self._exported)

    def _exported(self, wrapper, is_lower, args, kwargs):
        if not any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((args, kwargs))):
            given = (wrapper._signature, wrapper._dynamic_fun, wrapper._static_fun)
            info = (*given, wrapper.donate_first, wrapper.donate_rest)
            *arrays, static = eqx._jit._preprocess(info, args, kwargs, return_static=True)
            # Without the options of a program that is compiled quickly, which a part cannot have.
            function = wrapper._cached.__wrapped__
            check(lambda *given: function(*given, static), *arrays)
            self.names.add(str(wrapper.fn).rpartition(".")[2])
        return self._call(wrapper, is_lower, args, kwargs)


def check(function, *arguments) -> None:
    """Export a function, which raises for calls that only one platform knows."""
    exported = jax.export.export(jax.jit(function), platforms=PLATFORMS)(*arguments)
    assert exported.platforms == PLATFORMS


@pytest.fixture
def programs(monkeypatch):
    return Programs(monkeypatch)


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    x = np.random.default_rng(seed).normal(size=(40, 2))
    return x, np.sin(x[:, 0])


def test_a_default_fit_compiles_nothing(programs):
    x, y = table()
    Learner("regression", SMALL).learn(x, y).predict(x)
    assert not programs.names


def test_programs_of_a_fit_of_another_network_are_for_all_platforms(programs):
    x, y = table()
    network = MLP((4,), activation=jax.nn.softplus)
    Learner("regression", dataclasses.replace(SMALL, network=network)).learn(x, y).predict(x)
    assert {"_at_points", "_at_rows"} <= programs.names


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gfsvi_paper", "laplace", "mfvi", "sparse_gp"])
def test_programs_of_other_methods_are_for_all_platforms(programs, name):
    x, y = table()
    Learner("regression", SMALL, recipe_for(name)).learn(x, y).predict(x)
    assert "_run" in programs.names


def test_programs_for_devices_are_for_all_platforms(programs):
    x, y = table()
    mesh, network = mesh_of(jax.local_devices()), MLP((4,), 1)
    params = network.init(x, key=jax.random.key(1), dtype=np.float32)
    prior = GaussianProcess(Matern52(1.5))
    at = Interpolation.at(tangents_of(network, params), prior, x[:9], gamma=1e-8)
    on_devices.sums_on(mesh, at, x, y[None], np.ones((1, len(y))))
    assert "_sums" in programs.names
    matrices = [np.ones((3, 4), np.float32), np.ones((5, 1), np.float32)]
    rows = np.zeros((64, 2), np.float32)
    check(lambda *given: on_devices._outputs(mesh, *given), matrices, rows)
    check(lambda *given: on_devices._gradient(mesh, *given), matrices, rows, rows[:, :1])


def test_a_program_that_only_one_platform_knows_is_noticed():
    with pytest.raises(Exception, match="platform|cuda|callback"):
        check(only_for_processors, np.eye(3))


def only_for_processors(matrix):
    return jax.ffi.ffi_call("lapack_made_up", jax.ShapeDtypeStruct((3, 3), np.float32))(matrix)
