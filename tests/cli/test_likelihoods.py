"""`gfsvi fit --likelihood NAME`: how observations scatter."""

from pathlib import Path

import numpy as np
import pytest

from gfsvi.cli.commands import parser
from gfsvi.cli.fit import _command

from .test_bad_tables import GOOD, csv, fit, refused

COUNTS = np.arange(len(GOOD)) % 4
TARGETS = {
    "bernoulli": np.where(COUNTS > 1, "yes", "no"),
    "categorical": np.array(["a", "b", "c", "d"])[COUNTS],
    "heteroscedastic_normal": GOOD["y"],
    "normal": GOOD["y"],
    "poisson": COUNTS,
    "student_t": GOOD["y"],
    "warped_normal": GOOD["y"],
}


@pytest.mark.parametrize("name", TARGETS)
def test_every_likelihood_can_be_named(problem_of, name):
    Path("table.csv").write_bytes(csv(GOOD.assign(y=TARGETS[name])))
    likelihood = problem_of(*fit("table.csv", "--likelihood", name, "--quiet")).likelihood
    assert type(likelihood).__name__.lower() == name.replace("_", "")


def test_a_likelihood_says_what_kind_of_target_there_is(problem_of):
    Path("table.csv").write_bytes(csv(GOOD.assign(y=COUNTS % 2)))
    of_counts = problem_of(*fit("table.csv", "--likelihood", "poisson", "--quiet"))
    np.testing.assert_array_equal(of_counts.rows.y, COUNTS % 2)
    of_labels = problem_of(*fit("table.csv", "--likelihood", "categorical", "--quiet"))
    assert of_labels.likelihood.num_classes == 2


@pytest.mark.parametrize(
    ("name", "options", "about"),
    [
        ("poisson", [], "Poisson expects counts 0, 1, 2, ...; got"),
        ("custom_likelihood", [], "'custom_likelihood' has none. Build it in Python"),
        (
            "bernoulli",
            ["--task", "regression"],
            "regression expects a likelihood of numbers; got B",
        ),
    ],
)
def test_a_likelihood_that_does_not_suit_gets_one_sentence(run, name, options, about):
    Path("table.csv").write_bytes(csv(GOOD))
    refused(run(*fit("table.csv", "--likelihood", name, "--quiet", *options)), about=about)


def test_the_command_that_does_the_same_again_names_likelihood_and_weights():
    words = fit("table.csv", "--likelihood", "student_t", "--weight", "my weight")
    command = _command(parser().parse_args(words))
    assert "--likelihood student_t --weight 'my weight'" in command
    assert "--weight" not in _command(parser().parse_args(fit("table.csv")))
