"""Tables by the paper's rules, and reports that depend on records alone."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

import dataclasses
import math
import re
import tomllib

import numpy as np
import pytest
from scipy.stats import rankdata

from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.bench.reporting.charts import average_ranks, nemenyi_distance
from gfsvi.bench.reporting.glance import glance
from gfsvi.bench.reporting.markdown import markdown
from gfsvi.bench.reporting.page import html
from gfsvi.bench.reporting.report import write_reports
from gfsvi.bench.reporting.spreadsheet import comma_separated
from gfsvi.bench.reporting.summary import Cell, Table, tables
from gfsvi.bench.reporting.texts import note, run_name, worse_than_published
from gfsvi.bench.running.records import Records

TOML = """
title = "A <b>small</b> one"
task = "regression"
datasets = ["boston", "yacht"]
folds = 3
[methods.gfsvi]
[methods.map]
[methods.mfvi]
[report]
published = "regression"
metrics = ["expected_log_likelihood", "mse"]
"""
ENVIRONMENT = {"jax": "1", "numpy": "2", "python": "3", "machine": "any", "cores": 2}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "experiment.toml").write_text(TOML)
    records = Records(tmp_path)
    random = np.random.default_rng(0)
    for number, run in enumerate(Experiment.read(tmp_path / "experiment.toml").runs):
        metrics = {"expected_log_likelihood": random.normal(), "mse": random.uniform()}
        record = {
            "run": run.identity,
            "experiment": "experiment",
            "dataset": run.dataset,
            "method": run.label,
            "fold": run.fold,
            "seed": run.seed,
            "status": "ok",
            "metrics": metrics,
            "seconds": 1.0 + number,
            "version": "0",
            "environment": ENVIRONMENT,
            "partial": {"song": "a <i>few</i> rows"},
        }
        if number == 4:
            record |= {"status": "failed", "error": "<script>alert(1)</script>", "metrics": {}}
        records.append(record)
    return tmp_path


def table_of(means, errors, metric="expected_log_likelihood") -> Table:
    methods = tuple("abcdef"[: len(means)])
    columns = zip(methods, means, errors, strict=True)
    cells = {(method, "d"): Cell(mean, error, 5) for method, mean, error in columns}
    return Table(metric, methods, ("d",), cells, {}, planned={"d": 5})


def experiment_with(folds: int = 5, seeds: tuple[int, ...] = (0,), **report) -> Experiment:
    content = {"task": "regression", "datasets": ["boston"], "methods": {"gfsvi": {}, "map": {}}}
    return Experiment.parse("x", content | {"folds": folds, "seeds": seeds, "report": report})


def records_of(experiment: Experiment, **values: list[float]) -> list[dict]:
    """Records of the first runs of each method, with these values as squared errors."""
    return [
        {
            **{"run": run.identity, "dataset": run.dataset, "method": run.label},
            **{"fold": run.fold, "seed": run.seed, "status": "ok"},
            "metrics": {"mse": values[run.label].pop(0)},
        }
        for run in experiment.runs
        if values[run.label]
    ]


def test_a_cell_is_the_mean_and_its_standard_error():
    cell = Cell.of([1.0, 2.0, 4.0])
    assert cell.mean == pytest.approx(7 / 3)
    assert cell.error == pytest.approx(np.std([1, 2, 4], ddof=1) / math.sqrt(3))
    assert math.isnan(Cell.of([1.0]).error)


def test_the_best_and_all_that_overlap_it_share_a_rank_and_so_on():
    # 3.0 is best; 2.8 overlaps it; 2.5 overlaps 2.8 but not 3.0; 2.45 overlaps 2.5; 1 is alone
    table = table_of([3.0, 2.8, 2.5, 2.45, 1.0], [0.1, 0.2, 0.1, 0.1, 0.1])
    assert table.ranks("d") == {"a": 1, "b": 1, "c": 2, "d": 2, "e": 3}


def test_lower_is_better_for_errors():
    assert table_of([3.0, 1.0], [0.1, 0.1], "mse").ranks("d") == {"a": 2, "b": 1}


def test_methods_that_are_not_ranked_take_no_rank_from_others():
    table = dataclasses.replace(table_of([3.0, 2.0, 1.0], [0.1] * 3), ranked=("b", "c"))
    assert table.mean_ranks() == {"b": 1.0, "c": 2.0}


def test_the_number_of_planned_runs_is_that_of_the_experiment():
    experiment = experiment_with(folds=1, seeds=(0, 1, 2, 3, 4))
    found = records_of(experiment, gfsvi=[1.0, 2.0, 3.0], map=[1.0])
    (table,) = tables(experiment, found, ["mse"])
    assert [table.cells[m, "boston"].count for m in table.methods] == [3, 1]
    assert table.planned == {"boston": 5}
    assert tables(experiment_with(2, (0, 1)), [], ["mse"])[0].planned == {"boston": 4}
    text = markdown(experiment, found, [table])
    assert "(3 of 5 runs)" in text and "(1 of 5 runs)" in text


def test_cells_with_fewer_runs_than_planned_are_neither_bold_nor_ranked():
    experiment = experiment_with(folds=3)
    whole, part = [3.0, 3.1, 3.2], [1.0, 1.1]
    (table,) = tables(experiment, records_of(experiment, gfsvi=whole, map=part), ["mse"])
    assert table.ranks("boston") == {"gfsvi": 1} and table.mean_ranks() == {}


def test_a_method_without_a_complete_cell_takes_no_rank_from_others():
    table = table_of([3.0, 2.0, 1.0], [0.1] * 3)
    cells = table.cells | {("a", "d"): Cell(3.0, 0.1, 4)}
    assert dataclasses.replace(table, cells=cells).mean_ranks() == {"b": 1.0, "c": 2.0}


def test_a_single_run_has_no_error_bar_and_no_rank():
    experiment = experiment_with(folds=1)
    found = records_of(experiment, gfsvi=[1.0], map=[2.0])
    (table,) = tables(experiment, found, ["mse"])
    assert table.ranks("boston") == {} and table.mean_ranks() == {}
    text = markdown(experiment, found, [table])
    assert "One run per cell: there are no standard errors" in text
    assert "**" not in text and "mean rank" not in text and "±" not in text
    assert comma_separated([table]).splitlines()[1] == "mse,boston,gfsvi,1.0,,1,1,,,"
    assert not Cell.of([1.0]).overlaps(Cell(1.0, 0.5, 5))


def test_a_metric_that_only_describes_is_not_ranked():
    experiment = experiment_with(folds=2)
    table = table_of([3.0, 1.0], [0.1, 0.1], "rank")
    assert table.ranks("d") == {} and "is better" not in markdown(experiment, [], [table])


@pytest.mark.parametrize(
    ("folds", "seeds", "sentence", "name"),
    [
        (5, (0,), "over 5 folds.", "boston map fold 1"),
        (1, (0, 1, 2), "over 3 seeds.", "boston map seed 2"),
        (5, (0, 1, 2), "over 5 folds x 3 seeds.", "boston map fold 1 seed 2"),
        (1, (0,), "One run per cell", "boston map"),
    ],
)
def test_runs_are_named_by_what_the_experiment_varies(folds, seeds, sentence, name):
    experiment = experiment_with(folds, seeds)
    record = {"dataset": "boston", "method": "map", "fold": 1, "seed": 2}
    assert sentence in note(experiment, []) and run_name(record, experiment) == name


def test_mean_ranks_are_over_data_sets_that_every_method_has():
    cells = {("a", "d"): Cell(1, 0.1, 5), ("b", "d"): Cell(0, 0.1, 5), ("b", "e"): Cell(9, 0.1, 5)}
    table = Table("crps", ("a", "b"), ("d", "e"), cells, {}, planned={"d": 5, "e": 5})
    assert table.mean_ranks() == {"a": 2.0, "b": 1.0}


def test_the_difference_to_the_paper_is_in_its_standard_errors():
    cells, published = {("a", "d"): Cell(0.5, 0.1, 5)}, {("a", "d"): Cell(0.7, 0.05, 5)}
    lower = Table("mse", ("a",), ("d",), cells, published, planned={"d": 5})
    assert lower.difference("a", "d") == pytest.approx(4)
    higher = Table("accuracy", ("a",), ("d",), cells, published, planned={"d": 5})
    assert higher.difference("a", "d") == pytest.approx(-4)


def test_cells_far_below_the_published_ones_are_listed_by_name():
    cells = {("a", "d"): Cell(0.5, 0.1, 5), ("b", "d"): Cell(0.81, 0.1, 5)}
    published = {("a", "d"): Cell(0.7, 0.05, 5), ("b", "d"): Cell(0.7, 0.05, 5)}
    lower = Table("mse", ("a", "b"), ("d",), cells, published, planned={"d": 5})
    assert worse_than_published([lower]) == ["Mean squared error: b on d (-2.2)."]
    higher = dataclasses.replace(lower, metric="accuracy")
    assert worse_than_published([higher]) == ["Accuracy: a on d (-4.0)."]
    described = dataclasses.replace(lower, metric="coverage")
    assert worse_than_published([described]) == []


def test_a_method_may_have_another_name_in_the_paper():
    experiment = experiment_with(published="regression", published_as={"map": "gfsvi"})
    (table,) = tables(experiment, [], ["mse"])
    assert table.published["map", "boston"] == table.published["gfsvi", "boston"]


def test_published_values_are_those_of_the_paper():
    (table,) = tables(experiment_with(published="regression"), [], ["mse"])
    assert table.published["gfsvi", "boston"].mean == 0.123
    (table,) = tables(experiment_with(published="wasserstein"), [], ["wasserstein2"])
    assert (table.published["gfsvi", "wine"].mean, table.published["gfsvi", "wine"].error) == (
        0.0571,
        0.0097,
    )


def test_average_ranks_agree_with_scipy():
    values = np.random.default_rng(1).integers(0, 4, size=(7, 3)).astype(float)
    table = table_of([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], "mse")
    records = [
        {"dataset": "d", "fold": f, "seed": 0, "method": m, "status": "ok", "metrics": {"mse": v}}
        for f, row in enumerate(values)
        for m, v in zip("abc", row, strict=True)
    ]
    ranks, count = average_ranks(table, records)
    np.testing.assert_allclose(list(ranks.values()), rankdata(values, axis=1).mean(axis=0))
    assert count == 7


def test_the_critical_difference_agrees_with_demsar():
    # Demsar 2006: q = 2.728 for five methods (table 5); 1.25 for four on 14 data sets (3.2.2)
    assert nemenyi_distance(4, 14) == pytest.approx(1.25, abs=0.01)
    assert nemenyi_distance(5, 30) == pytest.approx(2.728 * math.sqrt(30 / 180), abs=1e-3)


def test_reports_do_not_depend_on_the_order_of_records(folder):
    first = {path: path.read_bytes() for path in write_reports(folder)}
    lines = Records(folder).path.read_text().splitlines(keepends=True)
    Records(folder).path.write_text("".join(reversed(lines)))
    second = {path: path.read_bytes() for path in write_reports(folder)}
    assert first == second and len(first) == 4


def test_text_from_files_is_escaped(folder):
    page = (folder / "report.html") if write_reports(folder) else None
    text = page.read_text()
    assert "<script>" not in text and "<b>small" not in text and "<i>few" not in text
    assert "&lt;script&gt;alert(1)" in text and "&lt;b&gt;small" in text
    assert not re.search(r"(src|href)=\"http", text.replace("http://www.w3.org", ""))


def test_failed_and_missing_runs_are_shown(folder):
    write_reports(folder)
    text = (folder / "report.md").read_text()
    assert "17 of 18 runs, 1 failed." in text and "## Failed" in text
    assert text.count("(2 of 3 runs)") == 2 and "3 of 3 runs" not in text  # one cell of each table
    assert "Partial data: song: a <i>few</i> rows." in text


def test_all_forms_of_a_report_hold_the_same_numbers(folder):
    write_reports(folder)
    rows = (folder / "report.csv").read_text().splitlines()
    assert rows[0].startswith("metric,dataset,method,mean") and len(rows) == 13
    mean = float(next(r for r in rows if r.startswith("mse,yacht,gfsvi")).split(",")[3])
    for name in ("report.md", "report.tex", "report.html"):
        assert f"{mean:.3f}" in (folder / name).read_text()


def test_a_folder_without_records_raises(tmp_path):
    with pytest.raises(ExperimentError, match="expected records and experiment.toml in"):
        write_reports(tmp_path)


@pytest.mark.parametrize("name", ['a" onload="x', "<b>", "a b"])
def test_names_with_markup_or_spaces_raise(name):
    content = {"task": "regression", "datasets": ["boston"], "methods": {"map": {}}}
    with pytest.raises(ExperimentError, match="expects names of letters"):
        Experiment.parse("x", content | {"report": {"metrics": [name]}})
    with pytest.raises(ExperimentError, match="expects names of letters"):
        Experiment.parse("x", content | {"methods": {name: {"method": "map"}}})


def glanced(means: dict[str, list[float]], metric: str, count: int = 5) -> Table:
    """A table of three data sets, with error bars of 0.1."""
    places = {
        (method, dataset): Cell(mean, 0.1, count)
        for method, row in means.items()
        for dataset, mean in zip("def", row, strict=True)
    }
    return Table(metric, tuple(means), tuple("def"), places, {}, dict.fromkeys("def", 5))


def test_a_glance_counts_where_a_method_is_best_or_tied_or_near():
    losses = glanced({"a": [1.0, 2.0, 3.0], "b": [1.1, 1.0, 2.9], "c": [9.0, 1.04, 1.0]}, "mse")
    found = glance([losses], ["mse"])
    assert found.methods == ("a", "b", "c")
    assert found.rows == {
        "Mean squared error: mean rank": ["1.67", "1.33", "1.33"],
        "Mean squared error: best or tied": ["1 of 3", "2 of 3", "2 of 3"],
        "Mean squared error: within 5 %": ["1 of 3", "1 of 3", "2 of 3"],
    }


def test_a_glance_at_a_score_has_no_share_within_five_percent_and_coverage_no_rank():
    score = glanced({"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 3.0]}, "log_predictive_density")
    coverage = glanced({"a": [0.9, 0.95, 1.0], "b": [0.5, 0.6, 0.7]}, "coverage")
    found = glance([coverage, score], ["log_predictive_density", "coverage", "crps"])
    assert found.rows == {
        "Log predictive density: mean rank": ["1.00", "1.67"],
        "Log predictive density: best or tied": ["3 of 3", "1 of 3"],
        "Coverage: mean": ["0.950", "0.600"],
        "Coverage: lowest": ["0.900", "0.500"],
        "Coverage: highest": ["1.000", "0.700"],
    }


def test_a_glance_leaves_out_data_sets_that_are_not_complete():
    table = glanced({"a": [1.0, 2.0, 3.0], "b": [0.0, 0.0, 3.0]}, "mse")
    part = dataclasses.replace(table, cells=table.cells | {("b", "d"): Cell(0.0, 0.1, 4)})
    assert glance([part], ["mse"]).rows["Mean squared error: best or tied"][0] == "1 of 2"
    assert glance([glanced({"a": [1.0] * 3, "b": [2.0] * 3}, "mse", count=2)], ["mse"]) is None
    assert glance([table], []) is None


def test_data_sets_are_rows_where_there_are_more_of_them_than_methods(folder):
    content = TOML.replace('["boston", "yacht"]', '["boston"]') + '\nglance = ["mse"]\n'
    experiment = Experiment.parse("x", tomllib.loads(content))
    long = glanced({"a": [1.0, 2.0, 3.0], "b": [1.1, 1.0, 2.9]}, "mse")
    found = [
        {"dataset": d, "method": m, "fold": 0, "seed": 0, "status": "ok", "seconds": 1.0}
        | {"metrics": {"mse": cell.mean}, "version": "0"}
        for (m, d), cell in long.cells.items()
    ]
    text, page = markdown(experiment, found, [long]), html(experiment, found, [long])
    assert "| | a | b |\n|---|---|---|\n| d | **1.000 ± 0.100** |" in text
    assert "| mean rank | 1.33 | 1.00 |" in text and "## At a glance" in text
    assert "<th>d</th>" in page and "At a glance" in page and "best or tied" in page


def test_data_sets_with_fewer_folds_are_named(folder):
    content = tomllib.loads(TOML) | {"fewer_folds": {"yacht": 2}}
    experiment = Experiment.parse("x", content)
    assert "over 3 folds. Only 2 folds of yacht." in note(experiment, [])
