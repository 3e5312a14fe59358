"""Claims about the paper's tables, tested on recorded runs."""

from pathlib import Path

import pytest

from gfsvi.bench.experiment import Experiment
from gfsvi.bench.reporting.markdown import markdown
from gfsvi.bench.reporting.report import read_results, shown_tables
from gfsvi.bench.reporting.summary import Table, tables
from gfsvi.bench.running.records import Records

ROOT = Path(__file__).parents[2]
NINE = {"boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht"}
FIVE = {"boston", "concrete", "energy", "wine", "yacht"}


def table_of(name: str, metric: str) -> Table:
    experiment = Experiment.read(ROOT / "experiments" / f"{name}.toml")
    return tables(experiment, Records(ROOT / "results" / name).read(), [metric])[0]


@pytest.mark.parametrize(
    "folder",
    sorted(path.parent for path in (ROOT / "results").glob("*/report.md")),
    ids=lambda path: path.name,
)
def test_every_report_equals_what_its_records_give(folder):
    experiment, records = read_results(folder)
    text = markdown(experiment, records, shown_tables(experiment, records))
    assert text == (folder / "report.md").read_text()


def as_good_as_published(table: Table, method: str, num_errors: float) -> set[str]:
    """Data sets on which a method is at most `num_errors` standard errors behind the paper."""
    differences = {d: table.difference(method, d) for d in table.datasets}
    return {d for d, value in differences.items() if value is not None and value >= -num_errors}


@pytest.mark.parametrize(
    ("metric", "missed"),
    [
        ("expected_log_likelihood", {"kin8nm", "protein"}),
        ("mse", {"kin8nm", "power"}),
        ("ood_accuracy", set()),
    ],
)
def test_gfsvi_is_as_good_as_published_on_all_but_these_tables(metric, missed):
    table = table_of("regression", metric)
    assert all(table.cells["gfsvi", dataset].count == 5 for dataset in NINE)
    assert NINE - as_good_as_published(table, "gfsvi", 1.0) == missed


@pytest.mark.parametrize("metric", ["expected_log_likelihood", "mse"])
def test_trained_covariances_are_as_good_as_published_on_all_but_power(metric):
    table = table_of("regression", metric)
    sign = 1 if metric == "expected_log_likelihood" else -1
    missed = set()
    for dataset in NINE:
        ours, theirs = table.cells["gfsvi_trained", dataset], table.published["gfsvi", dataset]
        # To the digits that the paper prints.
        if sign * (ours.mean - theirs.mean) < -(theirs.error + 0.0005):
            missed.add(dataset)
    assert missed == {"power"}


def test_only_two_methods_of_the_paper_have_a_better_mean_rank():
    ranks = table_of("regression", "expected_log_likelihood").mean_ranks()
    better = {name for name, rank in ranks.items() if rank < ranks["gfsvi"]}
    assert len(ranks) == 6 and better == {"fvi", "vip"}


def test_baselines_are_as_good_as_published_except_for_one():
    table = table_of("regression", "expected_log_likelihood")
    published = ("fvi", "tfsvi", "mfvi", "vip", "laplace", "gwi", "sparse_gp", "exact_gp")
    missed = [(m, d) for m in published for d in FIVE - as_good_as_published(table, m, 2.0)]
    assert missed == [("mfvi", "wine")]


def test_the_closed_form_is_closer_than_training_and_the_sparse_process():
    table = table_of("wasserstein", "wasserstein2")
    for dataset in FIVE:
        ours, *others = (table.cells[m, dataset] for m in ("gfsvi", "gfsvi_kronecker", "sparse_gp"))
        assert ours.count == 5 and ours.mean < 0.5 * others[0].mean, dataset
        assert ours.mean < others[1].mean, dataset


@pytest.mark.parametrize(("method", "share"), [("gfsvi_diagonal", 1.0), ("gfsvi_kronecker", 0.5)])
def test_posteriors_are_closer_to_the_exact_one_than_published(method, share):
    table = table_of("wasserstein", "wasserstein2")
    for dataset in FIVE:
        ours, theirs = table.cells[method, dataset], table.published["gfsvi", dataset]
        assert ours.count == 5 and ours.mean < share * theirs.mean, dataset


def test_with_a_common_length_scale_the_sparse_process_is_as_close_as_published():
    table = table_of("wasserstein", "wasserstein2")
    assert {"energy", "yacht"} <= as_good_as_published(table, "sparse_gp", 1.0)
    differences = [table.difference("sparse_gp", dataset) for dataset in ("energy", "yacht")]
    assert max(differences) < 1.0
    nearer = {
        d for d in FIVE if table.cells["gfsvi_kronecker", d].mean < table.cells["sparse_gp", d].mean
    }
    assert nearer == {"concrete", "energy", "yacht"}


def test_distances_are_measured_without_early_stopping():
    found = Records(ROOT / "results" / "wasserstein").read()
    ours = [record for record in found if record["settings"]["method"] == "gfsvi_trained"]
    assert len(ours) == 50
    for record in ours:
        assert record["metrics"]["best_step"] == record["settings"]["training"]["num_steps"]
