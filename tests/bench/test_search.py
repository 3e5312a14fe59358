"""A search finds the best settings, resumes after interruptions and writes an experiment."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

import math

import pytest

from gfsvi.bench.experiment import Experiment, ExperimentError
from gfsvi.bench.running.records import Records
from gfsvi.bench.running.runner import Stopped
from gfsvi.bench.search.space import METRIC, Search, applies
from gfsvi.bench.search.tuning import tune

CONTENT = {
    "task": "regression",
    "datasets": ["yacht"],
    "folds": 3,
    "methods": {"gfsvi": {"method": "gfsvi_trained", "training": {"num_steps": 7}}},
    "search": {
        "trials": 12,
        "space": {
            "kernel": ["rbf", "matern12"],
            "training.learning_rate": {"low": 1e-3, "high": 1e-1, "log": True},
            "prior_scale": {"low": 1, "high": 9},
        },
    },
}


class Judge:
    """A worker that scores Matern-1/2 and a learning rate of 0.01 best."""

    def __init__(self, dies_after: int | None = None, fails: bool = False):
        self.runs, self._dies_after, self._fails = [], dies_after, fails

    def __call__(self, run):
        if len(self.runs) == self._dies_after:
            raise Stopped
        self.runs.append(run)
        rate = run.settings["training"]["learning_rate"]
        score = (run.settings["kernel"] == "matern12") - abs(math.log10(rate) + 2) + 0.01 * run.fold
        status = "failed" if self._fails else "ok"
        metrics = {} if self._fails else {METRIC: score, "mse": -score}
        return {"run": run.identity, "status": status, "metrics": metrics}

    def close(self):
        pass


@pytest.fixture
def experiment():
    return Experiment.parse("small", CONTENT)


def test_the_settings_with_the_best_validation_score_are_chosen(experiment, tmp_path):
    judge, trials = Judge(), []
    path = tune(experiment, Search.of(experiment), tmp_path, [judge], on_trial=trials.append)
    best = max((t for t in trials if t.score is not None), key=lambda t: t.score)
    settings = Experiment.read(path).settings_of("gfsvi", "yacht")
    assert settings == experiment.settings_of("gfsvi", "yacht") | best.settings
    assert settings["kernel"] == "matern12" and settings["training"]["num_steps"] == 7
    assert "prior_scale" not in settings  # GFSVI's prior is over functions
    assert abs(math.log10(settings["training"]["learning_rate"]) + 2) < 0.5
    assert len(trials) == 12
    assert len(judge.runs) < 12 * 3  # bad trials are pruned


def test_runs_use_the_chosen_settings(experiment, tmp_path):
    path = tune(experiment, Search.of(experiment, 3), tmp_path, [Judge()])
    chosen = Experiment.read(path)
    assert [run.settings for run in chosen.runs] == [chosen.settings_of("gfsvi", "yacht")] * 3
    assert chosen.search == {} and chosen.methods == experiment.methods
    assert "best of 3 trials" in chosen.report["text"]


@pytest.mark.parametrize("runs_before", [1, 4, 11])
def test_an_interrupted_search_resumes(experiment, tmp_path, runs_before):
    search = Search.of(experiment)
    with pytest.raises(Stopped):
        tune(experiment, search, tmp_path, [Judge(dies_after=runs_before)])
    first = {record["run"] for record in Records(tmp_path).read()}
    assert len(first) == runs_before
    judge = Judge()
    tune(experiment, search, tmp_path, [judge])
    again = [run.identity for run in judge.runs]
    assert not first & set(again) and len(set(again)) == len(again)
    judge = Judge()
    tune(experiment, search, tmp_path, [judge])
    assert judge.runs == []


def test_two_workers_share_the_studies(tmp_path):
    content = CONTENT | {"datasets": ["yacht", "wine", "boston"]}
    experiment = Experiment.parse("small", content)
    judges = [Judge(), Judge()]
    path = tune(experiment, Search.of(experiment, 4), tmp_path, judges)
    assert set(Experiment.read(path).chosen["gfsvi"]) == {"yacht", "wine", "boston"}
    made = [run.identity for judge in judges for run in judge.runs]
    assert len(set(made)) == len(made)


def test_a_search_in_which_every_trial_fails_raises(experiment, tmp_path):
    with pytest.raises(ExperimentError, match="do not fail; got none in 3 trials"):
        tune(experiment, Search.of(experiment, 3), tmp_path, [Judge(fails=True)])


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"trails": 3}, "expects trials, metric and space; got 'trails'"),
        ({"space": {"kernel": "rbf"}}, "expects a list, or a table .* for kernel; got 'rbf'"),
        ({"space": {"gamma": {"low": 2, "high": 1}}}, "low, high and log, for gamma"),
    ],
)
def test_an_invalid_search_raises(table, sentence):
    with pytest.raises(ExperimentError, match=sentence):
        Search.of(Experiment.parse("small", CONTENT | {"search": table}))


def test_an_unknown_metric_raises_with_the_known_ones(tmp_path):
    table = CONTENT["search"] | {"metric": "accuracy"}
    experiment = Experiment.parse("small", CONTENT | {"search": table})
    with pytest.raises(ExperimentError, match="metric among mse, validation.*got 'accuracy'"):
        tune(experiment, Search.of(experiment), tmp_path, [Judge()])


@pytest.mark.parametrize(
    ("name", "method", "expected"),
    [
        ("kernel", "gfsvi", True),
        ("kernel", "mfvi", False),
        ("prior_scale", "mfvi", True),
        ("prior_scale", "gfsvi", False),
        ("network.activation", "mfvi", True),
        ("network.activation", "gfsvi", True),
        ("network.activation", "exact_gp", False),
        ("training.learning_rate", "exact_gp", False),
        ("training.learning_rate", "gfsvi_paper", True),
        ("pseudo_count", "gfsvi", True),
        ("pseudo_count", "mfvi", False),
    ],
)
def test_a_setting_applies_to_methods_that_have_it(name, method, expected):
    assert applies(name, method) is expected


@pytest.mark.parametrize(
    ("task", "dataset"), [("regression", "yacht"), ("classification", "mnist")]
)
def test_the_default_space_is_the_papers(task, dataset):
    content = {"task": task, "datasets": [dataset], "methods": {"gfsvi_paper": {}}}
    search = Search.of(Experiment.parse("x", content))
    assert "linear" in search.space["kernel"] and len(search.space["kernel"]) == 6
    assert ("pseudo_count" in search.space) == (task == "classification")
    assert search.metric == METRIC


def test_a_covariance_in_closed_form_has_no_learning_rate_to_search(tmp_path):
    methods = {"gfsvi": {}, "trained": {"method": "gfsvi", "covariance": "diagonal"}}
    search = CONTENT["search"] | {"trials": 1}
    experiment = Experiment.parse("small", CONTENT | {"methods": methods, "search": search})
    seen = []

    class Remembering(Judge):
        def __call__(self, run):
            seen.append((run.label, "training" in run.settings))
            return {"run": run.identity, "status": "ok", "metrics": {METRIC: 1.0}}

    tune(experiment, Search.of(experiment), tmp_path, [Remembering()])
    assert set(seen) == {("gfsvi", False), ("trained", True)}
