"""Tables as people have them: folds, scores, our fits and a peer that needs nothing else."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gfsvi.bench.data import table_file
from gfsvi.bench.data.dataset import DatasetError
from gfsvi.bench.data.folds import fold_of
from gfsvi.bench.data.loading import load, path_of
from gfsvi.bench.data.raw_tables import raw_table
from gfsvi.bench.experiment import Experiment, ExperimentError, Run
from gfsvi.bench.outside import calling
from gfsvi.bench.outside.peers import PEERS, Peer
from gfsvi.bench.own_fits import predicted_by_us
from gfsvi.bench.running.execution import execute
from gfsvi.bench.tabular import Predicted, scores, scores_of_labels, scores_of_numbers
from gfsvi.cli import bench, main
from gfsvi.predictives import NormalMixturePredictive

QUICK = {"hidden": [5], "num_steps": 3, "kernel": "rbf"}
OF_BOTH = {"log_predictive_density", "least_log_density"}
OF_NUMBERS = OF_BOTH | {"crps", "interval_score", "coverage", "coverage_99", "mse"}
OF_LABELS = OF_BOTH | {"log_loss", "accuracy", "ece"}
SECONDS = {"fit_seconds", "predict_seconds"}


@pytest.fixture
def houses(tmp_path: Path) -> Path:
    random = np.random.default_rng(0)
    size = random.uniform(40, 200, 60)
    frame = pd.DataFrame(
        {
            "sold": pd.date_range("2020-01-01", periods=60).strftime("%d-%m-%Y"),
            "size": [f"{one:.2f}" if number % 9 else "?" for number, one in enumerate(size)],
            "town": [("Bonn", "Celle", "Ulm")[number % 3] for number in range(60)],
            "code": [f"{number:03d}" for number in range(60)],
        }
    )
    frame["price"] = np.round(3 * size + 60 * (frame["town"] == "Bonn") + random.normal(size=60), 2)
    frame["dear"] = np.where(frame["price"] > 400, "yes", "no")
    frame.to_csv(tmp_path / "houses.csv", index=False)
    return tmp_path / "houses.csv"


def run_of(dataset: str, method: str, fold: int = 1, **settings) -> Run:
    return Run("test", "tables", dataset, method, fold, 0, {"method": method} | settings)


@pytest.mark.parametrize(("method", "given"), [("sklearn_gp", {}), ("gfsvi", QUICK)])
@pytest.mark.parametrize(("target", "named"), [("price", OF_NUMBERS), ("dear", OF_LABELS)])
def test_numbers_and_labels_are_scored_alike_for_us_and_for_a_peer(
    houses, method, given, target, named
):
    record = execute(run_of(f"{houses}:{target}", method, **given), load)
    assert record["status"] == "ok", record
    assert set(record["metrics"]) == named | SECONDS
    assert record["metrics"]["fit_seconds"] > 0


def test_cells_are_as_the_file_has_them(houses):
    table = raw_table(f"{houses}:price")
    assert table.frame["code"][7] == "007" and table.frame["size"][9] == "?"
    assert table.y[3] == float(table.frame["price"][3])


def test_the_folds_are_those_of_the_task_on_arrays():
    arrays, table = load("sine").arrays, raw_table("sine")
    for number in range(5):
        _, _, test = fold_of(arrays["X"], arrays["y"], number)
        fold = table.fold(number)
        spread = np.std(fold.y_test) / np.std(test.y)
        np.testing.assert_allclose(np.diff(fold.y_test), spread * np.diff(test.y), rtol=1e-5)
        assert len(fold.train) + len(fold.test) == len(arrays["y"])


def test_every_row_is_tested_once_and_classes_are_shared_between_folds(houses):
    table = raw_table(f"{houses}:dear")
    folds = [table.fold(number) for number in range(5)]
    codes = np.concatenate([fold.test["code"] for fold in folds])
    assert sorted(codes) == sorted(table.frame["code"])
    shares = [np.mean(fold.y_test) for fold in folds]
    assert np.ptp(shares) <= 1 / 12 + 1e-12
    assert folds[0].classes == ("no", "yes")


def test_rows_without_a_target_are_left_out(houses):
    frame = pd.read_csv(houses, dtype=str)
    frame.loc[[4, 9], "price"] = ""
    frame.to_csv(houses.with_name("gaps.csv"), index=False)
    table = raw_table(f"{houses.with_name('gaps.csv')}:price")
    assert len(table.frame) == len(table.y) == 58 and np.all(np.isfinite(table.y))


def test_scores_do_not_depend_on_the_units_of_the_target():
    random = np.random.default_rng(0)
    means, y = random.normal(size=(2, 30)), random.normal(size=30)
    predictive = NormalMixturePredictive.of(means, np.full((2, 30), 0.5), np.array([0.3, 0.7]))
    found = scores_of_numbers(predictive, y, 2.0)
    again = scores_of_numbers(predictive.rescaled(1000.0, 7.0), 1000 * y + 7, 2000.0)
    assert again == pytest.approx(found)
    assert found["mse"] == pytest.approx(np.mean((y - predictive.mean) ** 2) / 4)


def test_a_label_that_was_thought_impossible_has_a_finite_loss():
    probabilities = np.array([[1.0, 0.0], [0.25, 0.75]])
    found = scores_of_labels(probabilities, np.array([1, 1]))
    assert found["log_loss"] == pytest.approx(-(np.log(1e-15) + np.log(0.75)) / 2)
    assert found["log_predictive_density"] == -found["log_loss"] and found["accuracy"] == 0.5


def test_scores_are_in_deviations_of_the_training_targets(houses):
    fold = raw_table(f"{houses}:price").fold(0)
    exact = NormalMixturePredictive.of(
        fold.y_test[None], np.full((1, len(fold.y_test)), np.std(fold.y_train)), np.ones(1)
    )
    found = scores(Predicted(exact, {"fit_seconds": 1.0}), fold)
    assert found["mse"] == 0 and found["coverage"] == 1 and found["fit_seconds"] == 1
    assert found["log_predictive_density"] == pytest.approx(-0.5 * np.log(2 * np.pi))
    assert found["interval_score"] == pytest.approx(2 * 1.959964, rel=1e-6)


def test_the_row_that_was_expected_least_is_scored():
    predictive = NormalMixturePredictive.of(np.zeros((1, 3)), np.ones((1, 3)), np.ones(1))
    found = scores_of_numbers(predictive, np.array([0.0, 2.3, -4.0]), 10.0)
    assert found["least_log_density"] == pytest.approx(-8 - 0.5 * np.log(2 * np.pi) + np.log(10))
    assert (found["coverage"], found["coverage_99"]) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_a_class_that_training_rows_lack_has_no_probability(houses):
    fold = raw_table(f"{houses}:dear").fold(0)
    more = fold._replace(classes=("maybe", "no", "yes"))
    found = predicted_by_us({"method": "gfsvi"} | QUICK, more, 0).predictive
    assert found.shape == (len(fold.test), 3) and np.all(found[:, 0] == 0)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-6)


def test_a_setting_that_no_estimator_has_is_refused(houses):
    record = execute(run_of(f"{houses}:price", "gfsvi", wheels=4), load)
    assert record["status"] == "failed" and "gfsvi expects the settings kernel" in record["error"]


def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Peer:
    path = tmp_path / "peer.py"
    path.write_text(f"import sys\nimport numpy as np\nfolder = sys.argv[1]\n{body}\n")
    monkeypatch.setattr(Peer, "command", (sys.executable, str(path)))
    return Peer("peer.py", is_foreign=False)


@pytest.fixture
def fold(houses):
    return raw_table(f"{houses}:price").fold(0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('no luck')", "peer.py ended with 1: ValueError: no luck"),
        ("pass", "expected a prediction in prediction.npz; got .*No such file"),
        ("np.savez(folder + '/prediction.npz', fit_seconds=1.0)", "got .*predict_seconds"),
        (
            "np.savez(folder + '/prediction.npz', mean=np.zeros((1, 3)), std=np.ones((1, 3)), "
            "weight=np.ones(1), fit_seconds=1.0, predict_seconds=1.0)",
            r"numbers of shape \(1, 3\), or NaN, for 12 rows",
        ),
        (
            "np.savez(folder + '/prediction.npz', mean=np.full((1, 12), np.nan), "
            "std=np.ones((1, 12)), weight=np.ones(1), fit_seconds=1.0, predict_seconds=1.0)",
            "or NaN, for 12 rows",
        ),
        (
            "np.savez(folder + '/prediction.npz', mean=np.array([{}]), fit_seconds=1.0)",
            "allow_pickle=False",
        ),
    ],
)
def test_a_peer_that_fails_is_told_from_one_that_answers(tmp_path, monkeypatch, fold, body, said):
    with pytest.raises(calling.PeerError, match=said):
        calling.predicted_by_peer(script(tmp_path, monkeypatch, body), fold, 0)


def test_a_peer_sees_neither_the_targets_of_test_rows_nor_more_than_one_thread(
    tmp_path, monkeypatch, fold
):
    peer = script(
        tmp_path,
        monkeypatch,
        "import json, os, pandas\n"
        "said = json.load(open(folder + '/fold.json'))\n"
        "assert said == {'target': 'price', 'classes': None, 'seed': 3}\n"
        "train, test = (pandas.read_csv(f'{folder}/{name}.csv', dtype=str)\n"
        "               for name in ('train', 'test'))\n"
        "assert list(train.drop(columns='price').columns) == list(test.columns)\n"
        "assert train['code'].str.len().eq(3).all() and os.environ['OMP_NUM_THREADS'] == '1'\n"
        "np.savez(folder + '/prediction.npz', mean=np.zeros((2, 12)), std=np.ones((2, 12)),\n"
        "         weight=np.full(2, 0.5), fit_seconds=1.0, predict_seconds=2.0)",
    )
    found = calling.predicted_by_peer(peer, fold, 3)
    assert found.seconds == {"fit_seconds": 1.0, "predict_seconds": 2.0}
    assert found.predictive.means.shape == (2, 12)


def test_peers_are_methods_of_this_task_alone():
    content = {"task": "tables", "datasets": ["boston"], "methods": {"catboost": {}}}
    assert Experiment.parse("x", content).named_methods == {"catboost"}
    labelled = content | {"methods": {"mine": {"method": "realmlp"}}}
    assert Experiment.parse("x", labelled).named_methods == {"realmlp"}
    with pytest.raises(ValueError, match="expected a method named .*; got 'catboost'"):
        Experiment.parse("x", content | {"task": "regression"})


def test_a_peer_without_its_environment_is_answered_before_anything_runs(
    houses, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path / "empty"))
    path = tmp_path / "x.toml"
    methods = "[methods.catboost]\n[methods.sklearn_gp]\n"
    path.write_text(f'task = "tables"\ndatasets = ["{houses}:price"]\n{methods}')
    output = tmp_path / "out"
    assert main(["bench", "run", str(path), "--output", str(output)]) == 2
    assert "catboost expects an environment" in capsys.readouterr().err
    assert not output.exists()
    assert PEERS["sklearn_gp"].is_ready and not PEERS["catboost"].is_ready


def test_chosen_runs_can_be_repeated_without_the_others(houses, tmp_path, monkeypatch):
    path, output = tmp_path / "x.toml", tmp_path / "out"
    methods = "[methods.gfsvi]\n[methods.sklearn_gp]\n"
    path.write_text(f'task = "tables"\ndatasets = ["{houses}:price"]\n{methods}')
    executed = []

    class Worker:
        def __call__(self, run):
            executed.append(run.label)
            return {"run": run.identity, "status": "ok", "metrics": {}, "seconds": 1.0} | {
                "dataset": run.dataset,
                "method": run.label,
                "fold": run.fold,
                "seed": run.seed,
            }

        def close(self):
            pass

    monkeypatch.setattr(bench, "LocalWorker", Worker)
    command = ["bench", "run", str(path), "--output", str(output)]
    assert main(command) == 0 and len(executed) == 10
    executed.clear()
    assert main([*command, "--method", "gfsvi", "--again", "--fold", "1"]) == 0
    assert executed == ["gfsvi"]
    assert main(command) == 0 and executed == ["gfsvi"]


def test_some_data_sets_may_have_fewer_folds():
    content = {
        "task": "tables",
        "datasets": ["boston", "protein"],
        "methods": {"gfsvi": {}},
        "fewer_folds": {"protein": 2},
    }
    experiment = Experiment.parse("x", content)
    assert [r.fold for r in experiment.runs if r.dataset == "protein"] == [0, 1]
    assert [r.fold for r in experiment.runs if r.dataset == "boston"] == [0, 1, 2, 3, 4]
    assert experiment.runs_of("protein") == 2 and experiment.runs_of("boston") == 5
    assert Experiment.parse("x", experiment.content) == experiment
    late = experiment.only(folds=(1, 3))
    assert late.folds_of("protein") == (1,) and experiment.only(datasets=("boston",)).runs
    with pytest.raises(ExperimentError, match="expected data sets of this experiment"):
        Experiment.parse("x", content | {"fewer_folds": {"power": 2}})
    with pytest.raises(ExperimentError, match="at least one fold and one seed"):
        Experiment.parse("x", content | {"fewer_folds": {"protein": 0}})


class Tiny(table_file.AbstractTableFile):
    """A file of this test."""

    target = "price"
    shape = (60, 5)
    sha256 = "0" * 64


def test_a_table_of_another_version_is_refused_and_a_missing_one_explained(
    houses, monkeypatch, tmp_path
):
    monkeypatch.setenv("GFSVI_DATA", str(tmp_path))
    monkeypatch.setenv("GFSVI_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DatasetError, match="put it at tables/test_tables_task.csv in the folder"):
        path_of(Tiny())
    (tmp_path / "tables").mkdir()
    houses.rename(tmp_path / Tiny.file)
    with pytest.raises(DatasetError, match="with the checksum 000000000000... at .*damaged"):
        path_of(Tiny())
