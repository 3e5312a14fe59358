"""The comparison with other libraries, without installing them."""

import ast
import dataclasses
import importlib
import json
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from gfsvi.bench.outside import environment as environments

ROOT = Path(__file__).parents[2]
TABLES = ("boston", "energy")


def benchmark(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"benchmarks.{name}")


@pytest.fixture
def peers(monkeypatch):
    return benchmark("peers", monkeypatch)


@pytest.fixture
def environment(monkeypatch):
    return benchmark("peers_environment", monkeypatch)


def turn(ours: float, laplace: float, gp: float) -> dict[str, dict[str, object]]:
    """Seconds of the first fit; the second takes a fraction of it that each library has."""
    firsts = {"ours": (ours, 0.25), "laplace": (laplace, 0.5), "gp": (gp, 1.0)}
    defaults = {"default": 2 * ours}  # of all libraries, of which only ours is shown
    return {
        library: {
            "seconds": {"first": first, "second": first * fraction} | defaults,
            "log_predictive_density": -first,
            "rmse": first / 10,
        }
        for library, (first, fraction) in firsts.items()
    }


def test_ratios_are_of_the_fastest_repeats(peers):
    found = peers.compare([[turn(6.0, 8.0, 1.0), turn(3.0, 9.0, 2.0)]])
    assert found["seconds"]["ours"] == {"first": 3.0, "second": 0.75}
    assert found["slowest_seconds"]["ours"] == {"first": 6.0, "second": 1.5}
    assert found["default_seconds"] == 6.0
    assert found["ours_over_laplace"] == 3.0 / 8.0
    assert found["ours_over_gp"] == 3.0 / 1.0
    assert found["second_fit"] == {"ours_over_laplace": 0.75 / 4.0, "ours_over_gp": 0.75 / 1.0}


def test_folds_are_averaged_because_their_rows_differ(peers):
    found = peers.compare([[turn(3.0, 8.0, 1.0)], [turn(5.0, 8.0, 3.0)]])
    assert found["seconds"]["ours"]["first"] == 4.0
    assert found["ours_over_gp"] == 4.0 / 2.0


def test_scores_are_means_over_everything_that_was_fitted(peers):
    found = peers.compare([[turn(6.0, 8.0, 1.0), turn(3.0, 9.0, 2.0)]])
    assert found["log_predictive_density"] == {"ours": -4.5, "laplace": -8.5, "gp": -1.5}
    assert found["rmse"]["ours"] == pytest.approx(0.45)


def test_the_summary_has_every_table_and_the_largest_ratios(peers):
    tables = {
        name: peers.compare([[turns]])
        for name, turns in zip(TABLES, (turn(2, 4, 1), turn(3, 4, 6)), strict=True)
    }
    found = json.loads(json.dumps(peers.summarise(tables)))
    assert set(found) == {*TABLES, "ours_over_laplace", "ours_over_gp", "second_fit"}
    assert (found["ours_over_laplace"], found["ours_over_gp"]) == (0.75, 2.0)
    assert found["second_fit"] == {"ours_over_laplace": 0.375, "ours_over_gp": 0.5}
    assert found["energy"]["ours_over_gp"] == 0.5


def test_libraries_take_turns_on_the_same_rows_with_the_same_network(peers, monkeypatch):
    random = np.random.default_rng(0)
    table = {"X": random.normal(size=(10, 2)), "y": np.arange(10.0)}
    calls, policies = [], []

    def call(waiting, *command):
        policies.append(waiting.get("OMP_WAIT_POLICY"))
        path = next(word for word in command if word.endswith(".npz"))
        calls.append((command[2], command[command.index(path) + 1 :], dict(np.load(path))))
        return {"seconds": {"first": 1.0, "second": 1.0}, "hidden": [7, 5]}

    monkeypatch.setattr(peers, "load", lambda name: SimpleNamespace(arrays=table))
    monkeypatch.setattr(peers, "_call", call)
    peers.measure("boston", 1, 2, Path("python"))
    assert [name for name, *_ in calls] == ["benchmarks.peers_ours", "laplace", "gp"] * 2
    assert [rest for _, rest, _ in calls[3:]] == [("1",), ("1", "7", "5"), ("1", "7", "5")]
    assert policies == [None] * 3 + ["PASSIVE"] * 3
    for _, _, rows in calls:
        assert sorted([*rows["y_train"], *rows["y_test"]]) == list(table["y"])
        np.testing.assert_array_equal(rows["x_test"], table["X"][rows["y_test"].astype(int)])
        np.testing.assert_array_equal(rows["y_test"], calls[0][2]["y_test"])


def test_no_program_compiled_before_is_found(peers, monkeypatch):
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "old")
    found = peers._environment("new")
    assert "JAX_COMPILATION_CACHE_DIR" not in found and found["GFSVI_CACHE"] == "new"
    assert {found[f"{name}_NUM_THREADS"] for name in ("OMP", "MKL", "OPENBLAS")} == {"2"}


def test_our_scores_are_on_the_scale_of_the_standardised_target(monkeypatch, tmp_path, capsys):
    ours = benchmark("peers_ours", monkeypatch)
    scores = {"log_predictive_density": -1.0, "mse": 36.0}
    fitted = SimpleNamespace(evaluate=lambda x, y: scores)
    regressor = SimpleNamespace(
        fit=lambda x, y: None, fitted_=fitted, settings_=SimpleNamespace(hidden=(7, 5))
    )
    built = []

    def build(**settings):
        built.append(settings)
        return regressor

    monkeypatch.setattr(ours, "GFSVIRegressor", build)
    ends = np.array([-3.0, 3.0])
    np.savez(tmp_path / "rows.npz", x_train=ends, y_train=ends, x_test=ends, y_test=ends)
    ours.main(str(tmp_path / "rows.npz"), "0")
    found = json.loads(capsys.readouterr().out)
    assert found["rmse"] == 2.0
    assert found["log_predictive_density"] == pytest.approx(-1.0 + np.log(3.0))
    assert found["hidden"] == [7, 5] and set(found["seconds"]) == {"first", "second", "default"}
    assert built == [{"random_state": 0, "prior_mean": None}, {"random_state": 0}]


def test_the_script_of_the_peers_imports_nothing_of_the_project():
    tree = ast.parse((ROOT / "benchmarks/peers_script.py").read_text())
    imported = {
        alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names
    }
    imported |= {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {"torch", "laplace", "gpytorch"} <= imported
    assert not {name for name in imported if name.split(".")[0] in ("gfsvi", "benchmarks")}


def test_peers_have_the_versions_that_tests_use(environment):
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    pinned = dict(word.split("==") for word in re.findall(r"[\w-]+==[\w.]+", text))
    known = environment.ENVIRONMENT
    here = dict(word.split("==") for word in (*known.packages, *known.alone))
    shared = set(pinned) & set(here)
    assert {"torch", "laplace-torch", "curvlinops-for-pytorch"} <= shared
    assert {name: here[name] for name in shared} == {name: pinned[name] for name in shared}


def test_peers_are_installed_once_and_again_for_other_versions(monkeypatch, tmp_path):
    commands = []

    def run(*command):
        commands.append(command)
        environment.python.parent.mkdir(parents=True, exist_ok=True)
        environment.python.touch()

    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path))
    monkeypatch.setattr(environments, "run", run)
    environment = environments.Environment("peers", ("torch==2",), alone=("laplace-torch==8",))
    assert not environment.is_ready
    assert environment.install() == environment.python
    assert len(commands) == 3 and "venv" in commands[0] and "--no-deps" in commands[2]
    assert environment.is_ready and environment.install() == environment.python
    assert len(commands) == 3
    environment = dataclasses.replace(environment, alone=("laplace-torch==9",))
    assert not environment.is_ready
    environment.install()
    assert len(commands) == 6 and commands[5][-1] == "laplace-torch==9"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_failed_installation_ends_with_what_failed_and_leaves_nothing_ready(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path))
    failed = SimpleNamespace(returncode=7)
    monkeypatch.setattr(environments.subprocess, "run", lambda *_, **__: failed)
    environment = environments.Environment("peers", ("torch==2",))
    with pytest.raises(SystemExit, match="ended with 7"):
        environment.install()
    assert not environment.is_ready
