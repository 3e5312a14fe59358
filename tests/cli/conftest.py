"""Commands run in this process or in one of their own, and two fitted models that tests share."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from jax.experimental.compilation_cache import compilation_cache

from gfsvi.auto.solving import Solver
from gfsvi.cli import main
from gfsvi.numerics.process import for_small_matrices

ROWS = 60
SCRIPT = "<script>alert(1)</script>"
FIT = ["--kernel", "rbf", "--time-budget", "1"]
CHANGED_BY_COMMANDS = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
    "jax_compilation_cache_max_size",
)


@contextlib.contextmanager
def left_as_it_was(folder: Path):
    """Commands change JAX's settings as a process of their own may; here they are put back."""
    before = {name: jax.config.values[name] for name in CHANGED_BY_COMMANDS}
    compilation_cache.reset_cache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GFSVI_CACHE", str(folder))
        for name, value in for_small_matrices().items():
            patch.setenv(name, value)
        yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


@pytest.fixture(scope="session")
def cache(pytestconfig) -> Path:
    """Compiled programs, kept from one run of the tests to the next."""
    return Path(pytestconfig.cache.mkdir("cli"))


@pytest.fixture(autouse=True)
def settings(cache, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with left_as_it_was(cache):
        yield


@pytest.fixture
def run(capsys):
    """Run a command here: its exit code, and what it printed where."""

    def run(*words):
        capsys.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as end:
            status = end.code
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return run


class Seen(Exception):
    """Ends a fit where learning would begin."""


@pytest.fixture
def problem_of(monkeypatch):
    """What `gfsvi fit` with these words would learn from."""

    def problem_of(*words):
        found = []

        def solve(self, problem):
            found.append(problem)
            raise Seen

        monkeypatch.setattr(Solver, "solve", solve)
        with pytest.raises(Seen):
            main([str(word) for word in words])
        return found[0]

    return problem_of


@pytest.fixture
def start(cache):
    """Start a command in a process of its own."""
    processes = []

    def start(*words, largest_file=None, **options):
        command = [sys.executable, "-m", "gfsvi.cli", *map(str, words)]
        if largest_file is not None:  # in blocks of 512 bytes: as good as a full disk
            command = ["sh", "-c", f'ulimit -f {largest_file} && exec "$@"', "sh", *command]
        environment = os.environ | {"GFSVI_CACHE": str(cache), "PYTHONUNBUFFERED": "1"}
        usual = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment}
        processes.append(subprocess.Popen(command, text=True, **(usual | options)))
        return processes[-1]

    yield start
    for process in processes:
        with process:
            process.kill()


@pytest.fixture(scope="session")
def houses() -> pd.DataFrame:
    """As untidy as tables are: text, gaps, a constant, a date and names that nobody expects."""
    random = np.random.default_rng(0)
    size, age = random.uniform(40, 200, ROWS), random.uniform(0, 90, ROWS)
    town = np.array(["Aachen", "Bonn", "Celle", None], object)[np.arange(ROWS) % 4]
    price = 3 * size - age + 60 * (town == "Bonn") + 10 * random.normal(size=ROWS)
    return pd.DataFrame(
        {
            SCRIPT: size,
            'the "age", in years': np.where(np.arange(ROWS) % 7 == 0, np.nan, age),
            "Städtchen 🏠": town,
            "country": "DE",
            "sold on": pd.date_range("2020-01-01", periods=ROWS, freq="13D").strftime("%Y-%m-%d"),
            "price": price,
            "kind": np.where(price > 400, "dear", np.where(price > 250, "fair", "cheap")),
        }
    )


@pytest.fixture
def table(houses) -> Path:
    """The untidy table in a file."""
    houses.to_csv("houses.csv", index=False)
    return Path("houses.csv")


def fitted(houses: pd.DataFrame, folder: Path, cache: Path, target: str, *options: str) -> Path:
    """The model that `gfsvi fit` leaves behind; the first worker that needs it makes it for all."""
    table, model = folder / "houses.csv", folder / "model.gfsvi"
    folder.mkdir(exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        if not model.exists():
            houses.to_csv(table, index=False)
            words = ["fit", table, "--target", target, "--output", model, "--quiet", *FIT, *options]
            with left_as_it_was(cache):
                assert main([str(word) for word in words]) == 0
    return model


@pytest.fixture(scope="session")
def for_all_workers(tmp_path_factory, worker_id) -> Path:
    """A folder of this run of the tests that its workers share."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def regression(houses, for_all_workers, cache) -> Path:
    """A model of prices, with its page beside it."""
    folder = for_all_workers / "regression"
    page = str(folder / "page.html")
    return fitted(houses.drop(columns="kind"), folder, cache, "price", "--report", page)


@pytest.fixture(scope="session")
def classification(houses, for_all_workers, cache) -> Path:
    """A model of kinds."""
    return fitted(houses.drop(columns="price"), for_all_workers / "kinds", cache, "kind")
