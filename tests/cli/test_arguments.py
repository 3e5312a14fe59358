"""Command lines that are not understood, and what can be called by name."""

import subprocess
import sys
from pathlib import Path

import pytest

from gfsvi import __version__, registry

from .test_bad_tables import GOOD, csv, fit, refused


@pytest.mark.parametrize(
    ("words", "about"),
    [
        ([], "expected a value for COMMAND; got none; see `gfsvi --help`"),
        (
            ["fot"],
            "suggest, serve, export, card, studio, bench, list, completion; got 'fot'",
        ),
        (["fot"], "Did you mean 'fit'? See `gfsvi --help`."),
        (["bench", "rn", "e.toml"], "got 'rn'. Did you mean 'run'? See `gfsvi bench --help`."),
        (["--verson"], "got '--verson'. Did you mean '--version'?"),
        (["fit"], "expected a value for table, --target, --output; got none"),
        (["fit", "t.csv", "--target", "y"], "expected a value for --output; got none"),
        (["fit", "t.csv", "--target"], "--target: expected one argument"),
        (
            ["fit", "t.csv", "--targ", "y", "--output", "m"],
            "got '--targ'. Did you mean '--target'?",
        ),
        (["fit", "t.csv", "--ouput=m", "-t", "y"], "got '--ouput'. Did you mean '--output'?"),
        (["fit", "t.csv", "-t", "y", "-x", "m"], "--quiet; got '-x'; see `gfsvi fit --help`"),
        (["predict", "m"], "expected a value for table, --output"),
        (["evaluate"], "expected a value for model, table"),
        (
            ["evaluate", "m", "t", "--yaml"],
            "--positive, --json, --stream, --in-memory; got '--yaml'; see",
        ),
        (["list", "animals"], "expected one of covariances, datasets, functions, kernels"),
        (["list", "kernel"], "Did you mean 'kernels'?"),
        (["predict", "m", "t", "--output", "p", "--level", "1"], "--level: expected a level"),
        (["predict", "m", "t", "--output", "p", "--level", "nan"], "between 0 and 1; got 'nan'"),
        (["predict", "m", "t", "--output", "p", "--level", "high"], "expected a number"),
    ],
)
def test_a_command_line_that_is_not_understood_gets_one_sentence(run, words, about):
    answer = run(*words)
    refused(answer, about=about)
    assert "--help`." in answer[2]


@pytest.mark.parametrize(
    ("option", "value", "about"),
    [
        ("--seed", "-1", "expected a whole number from 0 to 2147483647; got '-1'"),
        ("--seed", "1.5", "got '1.5'"),
        ("--seed", "²", "got '²'"),
        ("--seed", "2147483648", "got '2147483648'"),
        ("--time-budget", "0", "expected a positive number of seconds; got '0'"),
        ("--time-budget", "inf", "got 'inf'"),
        ("--time-budget", "soon", "expected a number; got 'soon'"),
        ("--task", "guess", "expected one of auto, regression, classification; got 'guess'"),
        ("--kernel", "mattern52", "Did you mean 'matern52'?"),
        ("--method", "guess", "expected a method named"),
        ("--method", "gfsvi_papr", "Did you mean 'gfsvi_paper'?"),
        ("--method", "empirical_bayes", "method expects a method that learns a posterior"),
        ("--likelihood", "poison", "Did you mean 'poisson'?"),
    ],
)
def test_an_option_that_makes_no_sense_gets_one_sentence(run, option, value, about):
    Path("table.csv").write_bytes(csv(GOOD))
    refused(run(*fit("table.csv", option, value)), about=about)


def test_everything_that_has_a_name_is_listed(run):
    status, out, error = run("list")
    assert (status, error) == (0, "")
    words = out.split()
    for collection in registry.collections():
        assert collection in words
        assert set(registry.describe(collection)) <= set(words)


def test_every_kernel_is_listed(run):
    status, out, _ = run("list", "kernels")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(registry.describe("kernels"))


def test_the_papers_recipe_is_listed_among_the_methods(run):
    status, out, _ = run("list", "methods")
    assert status == 0
    described = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert set(described) == {*registry.names("methods"), "gfsvi_paper", "gfsvi_trained"}
    assert "the paper's algorithm 1" in described["gfsvi_paper"].lower()


def test_it_is_a_module_too():
    command = [sys.executable, "-m", "gfsvi.cli", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"gfsvi {__version__}\n"


def test_a_reader_who_has_had_enough_is_no_error(start):
    process = start("list")
    process.stdout.close()
    assert process.wait() == 0
    assert process.stderr.read() == ""


def test_experiments_of_this_folder_are_listed(run):
    Path("experiments").mkdir()
    text = 'title = "Mine"\ntask = "curve"\ndatasets = ["sine"]\n[methods.map]\n'
    Path("experiments", "mine.toml").write_text(text)
    assert run("list", "experiments") == (0, "  experiments/mine.toml  Mine\n", "")
