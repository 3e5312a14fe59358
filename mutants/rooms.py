"""The modules that are mutated, and the tests that are to notice."""

import ast
import functools
import json
import re
from collections.abc import Iterator

from mutants.sites import ROOT, SOURCE

ROOMS = (
    *("kernels", "likelihoods", "inference", "methods", "covariances", "functions"),
    *("predictives", "plain"),
)
FILES = (
    *("metrics.py", "points.py", "values.py", "data.py", "numerics/linalg.py"),
    *("numerics/constraints.py", "numerics/clustering.py", "numerics/groups.py"),
    *("tables/preparation.py", "tables/learning.py", "networks/jacobian.py"),
)
WITHOUT = ("__init__.py", "kernels/code.py", "predictives/printing.py", "inference/models.py")
"""Modules that compute nothing: names, text and types."""

TESTED = (
    *("gold/test_*.py", "kernels/test_*.py", "inference/test_*.py", "methods/test_*.py"),
    *("plain/test_*.py", "contracts/test_*.py", "functions/test_*.py", "numerics/test_*.py"),
    *("predictives/test_*.py", "networks/test_*.py", "training/test_*.py", "test_metrics.py"),
    *("test_points.py", "test_values.py", "test_data.py"),
    *("tables/test_*.py", "prior_means/test_*.py", "auto/test_sc*.py", "auto/test_un*.py"),
)
"""Tests among which those of a module are looked for."""
MEASURED = "results/mutants/seconds.json"
"""Seconds of the processor that test files take, by `python -m mutants --measure`."""
MOST_FILES, SLOW, TOO_SLOW = 5, 15.0, 60.0

DEFAULTS: dict[str, tuple[str, ...]] = {
    "kernels": (
        *("kernels/test_base.py", "contracts/test_kernels.py", "kernels/test_known.py"),
        *("gold/test_kernels_against_peers.py", "plain/test_formulas.py"),
    ),
    "likelihoods": (
        *("gold/test_likelihoods_against_scipy.py", "gold/test_expectations_against_scipy.py"),
        *("contracts/test_likelihoods.py", "contracts/test_likelihood_predictions.py"),
    ),
    "inference": ("gold/test_closed_form.py", "inference/test_weights.py"),
    "methods": ("contracts/test_methods.py",),
    "covariances": ("contracts/test_covariances.py", "gold/test_exact_limits.py"),
    "functions": (
        *("gold/test_gaussian_processes.py", "gold/test_closed_form.py"),
        *("gold/test_weight_space.py", "functions/test_means.py"),
    ),
    "predictives": (
        *("predictives/test_predictive.py", "predictives/test_warp.py"),
        *("gold/test_likelihoods_against_scipy.py", "contracts/test_likelihood_predictions.py"),
    ),
    "plain": ("plain/test_formulas.py", "plain/test_composed.py"),
    "tables": ("tables/test_learning.py", "tables/test_preparation.py"),
    "": (),
}
"""Tests of every module of a room."""


def modules() -> Iterator[str]:
    """The modules that are mutated, in a fixed order."""
    paths = [path for room in ROOMS for path in sorted((SOURCE / room).glob("*.py"))]
    for path in (*paths, *(SOURCE / name for name in FILES)):
        name = path.relative_to(SOURCE).as_posix()
        if path.name not in WITHOUT and name not in WITHOUT:
            yield name


def tests_of(module: str) -> tuple[str, ...]:
    """The test files that are to notice a fault in a module, those that name it first.

    A test names a module if it imports from it, or uses a public name that the module defines.
    Files that were measured to take less time of the processor come first.
    """
    own = _public_names(module)
    near = [name for name, text in _texts().items() if own & text]
    room = module.partition("/")[0] if "/" in module else ""
    chosen = sorted(near, key=lambda name: (_seconds(name) > SLOW, -_share(own, name)))
    everything = [*chosen[:MOST_FILES], *(f"tests/{name}" for name in DEFAULTS.get(room, ()))]
    return tuple(dict.fromkeys(name for name in everything if _seconds(name) < TOO_SLOW))


def all_tests() -> tuple[str, ...]:
    """Every test file that may notice a fault."""
    found = {name for module in modules() for name in tests_of(module)}
    return tuple(sorted(found))


def _share(own: frozenset[str], name: str) -> float:
    """How much of a module a test names, in relation to all that it names."""
    names = _texts()[name]
    return len(own & names) / (1 + sum(1 for one in names if one in _all_names()))


@functools.cache
def _all_names() -> frozenset[str]:
    return frozenset().union(*(_public_names(module) for module in modules()))


@functools.cache
def _public_names(module: str) -> frozenset[str]:
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    names = {node.name for node in tree.body if isinstance(node, kinds)}
    dotted = "gfsvi." + module.removesuffix(".py").replace("/", ".")
    return frozenset({name for name in names if not name.startswith("_")} | {dotted})


@functools.cache
def _texts() -> dict[str, frozenset[str]]:
    """The words of every test file of the rooms that hold mathematics."""
    paths = (path for room in TESTED for path in (ROOT / "tests").glob(room))
    return {
        path.relative_to(ROOT).as_posix(): frozenset(
            re.findall(r"[\w.]+", path.read_text(encoding="utf-8"))
        )
        for path in sorted(paths)
    }


def _seconds(name: str) -> float:
    return _measured().get(name, 0.0)


@functools.cache
def _measured() -> dict[str, float]:
    path = ROOT / MEASURED
    return json.loads(path.read_text()) if path.exists() else {}
