"""Settings found by search: for each data set and method, those that validation rows like best."""

import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gfsvi import registry
from gfsvi.bench.experiment import Experiment, ExperimentError, Run
from gfsvi.bench.running.records import OK, Records
from gfsvi.bench.running.runner import Stopped, Worker
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.storage.files import atomic_path

CHOSEN = "chosen.toml"
STUDIES = "studies.jsonl"
METRIC = "validation_expected_log_likelihood"
DEFAULT_SPACE: dict[str, Any] = {
    "kernel": ["matern12", "matern32", "matern52", "rbf", "rational_quadratic"],
    "prior_scale": {"low": 0.1, "high": 10.0, "log": True},
    "network.activation": ["tanh", "relu"],
    "training.learning_rate": {"low": 1e-3, "high": 1e-1, "log": True},
}
"""The paper's: kernel family, learning rate, activation, prior scale."""
WARM_UP_TRIALS = 4


@dataclasses.dataclass(frozen=True)
class Trial:
    """One choice of settings and its mean score; None if it failed or was given up."""

    dataset: str
    method: str
    number: int
    settings: dict[str, Any]
    score: float | None


Tell = Callable[[Trial], None]


@dataclasses.dataclass(frozen=True)
class Search:
    """What to search and how long.

    Args:
        num_trials: Choices to try for each data set and method.
        metric: What to maximise, in its mean over folds.
        space: Lists to choose from, and ranges with `low`, `high` and `log`, by the name of a
            setting; dots lead into tables.
    """

    num_trials: int
    metric: str
    space: dict[str, Any]

    @classmethod
    def of(cls, experiment: Experiment, num_trials: int | None = None) -> "Search":
        """The search that an experiment asks for; the paper's where it is silent."""
        table = dict(experiment.search)
        search = cls(
            num_trials=num_trials or table.pop("trials", 20),
            metric=table.pop("metric", METRIC),
            space=table.pop("space", DEFAULT_SPACE),
        )
        table.pop("trials", None)
        if table:
            raise ExperimentError(
                f"[search] expects trials, metric and space; got {sorted(table)[0]!r}."
            )
        for name, choices in search.space.items():
            _check_choices(name, choices)
        return search

    def suggested(self, trial: Any, settings: dict[str, Any]) -> dict[str, Any]:
        """Settings of a method with those replaced that apply to it and that a trial chooses."""
        for name, choices in self.space.items():
            if not applies(name, settings["method"]):
                continue
            if isinstance(choices, list):
                value = trial.suggest_categorical(name, choices)
            elif isinstance(choices["low"], int) and isinstance(choices["high"], int):
                value = trial.suggest_int(name, **choices)
            else:
                value = trial.suggest_float(name, **choices)
            settings = _with(settings, name.split("."), value)
        return settings


def applies(name: str, method: str) -> bool:
    """Whether a method has such a setting, itself or by its prior."""
    kind = registry.find("methods", method)
    root = name.split(".")[0]
    over_weights = kind.prior_kind is BayesianNetwork
    if root == "kernel":
        return not over_weights
    if root == "prior_scale":
        return over_weights
    fields = {field.name for field in dataclasses.fields(kind)}
    return root in fields or (root == "network" and over_weights)


def tune(
    experiment: Experiment,
    search: Search,
    folder: Path,
    workers: Sequence[Worker],
    *,
    tell: Tell = lambda trial: None,
) -> Path:
    """Search for every data set and method, and write the experiment with what was chosen.

    Every run is a record of the folder, every trial a line of its studies: stopped at any moment,
    the same call goes on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pairs = ((dataset, label) for dataset in experiment.datasets for label in experiment.methods)
    shared = _Studies(experiment, search, folder, tell)
    chosen: dict[str, dict[str, Any]] = {}
    pool = ThreadPoolExecutor(len(workers))
    try:
        for found in pool.map(shared.serve, workers, [_Shared(pairs)] * len(workers)):
            for (dataset, label), settings in found.items():
                chosen.setdefault(label, {})[dataset] = settings
    finally:
        shared.stop()
        for worker in workers:
            worker.close()
        pool.shutdown()
    return _write(experiment, search, chosen, folder)


class _Shared(Iterator[Any]):
    """An iterator that threads may share."""

    def __init__(self, items: Iterator[Any]):
        self._items, self._lock = items, threading.Lock()

    def __next__(self) -> Any:
        with self._lock:
            return next(self._items)


class _Studies:
    """The studies of a folder, one for each data set and method."""

    def __init__(self, experiment: Experiment, search: Search, folder: Path, tell: Tell):
        self._experiment, self._search, self._tell = experiment, search, tell
        self._records = Records(folder)
        self._storage = _storage(folder / STUDIES)
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def serve(
        self, worker: Worker, pairs: Iterator[tuple[str, str]]
    ) -> dict[tuple[str, str], dict[str, Any]]:
        """Search for one pair after the other; what was chosen for each."""
        return {pair: self._chosen(worker, *pair) for pair in pairs}

    def _chosen(self, worker: Worker, dataset: str, label: str) -> dict[str, Any]:
        optuna = _optuna()
        study = optuna.create_study(
            study_name=f"{dataset}/{label}",
            storage=self._storage,
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(n_startup_trials=WARM_UP_TRIALS),
        )
        self._put_back_what_was_cut_off(study)
        finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
        while (count := len(study.get_trials(False, finished))) < self._search.num_trials:
            study.sampler = optuna.samplers.TPESampler(seed=count, n_startup_trials=WARM_UP_TRIALS)
            self._try(study, worker, dataset, label)
        if not study.get_trials(False, finished[:1]):
            raise ExperimentError(
                f"expected a setting of {label} on {dataset} that does not fail; got none in "
                f"{self._search.num_trials} trials. See their errors in {self._records.path}."
            )
        return study.best_trial.user_attrs["chosen"]

    def _put_back_what_was_cut_off(self, study: Any) -> None:
        """Trials that a killed process left running are tried again, first."""
        optuna = _optuna()
        for trial in study.get_trials(False, (optuna.trial.TrialState.RUNNING,)):
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
            study.enqueue_trial(trial.params)

    def _try(self, study: Any, worker: Worker, dataset: str, label: str) -> None:
        optuna = _optuna()
        trial = study.ask()
        before = self._experiment.settings_of(label, dataset)
        settings = self._search.suggested(trial, before)
        chosen = {name: value for name, value in settings.items() if before.get(name) != value}
        trial.set_user_attr("chosen", chosen)
        mean = self._mean_score(trial, worker, dataset, label, settings)
        state = optuna.trial.TrialState.PRUNED if mean is None else None
        study.tell(trial, mean, state=state)
        self._tell(Trial(dataset, label, trial.number, chosen, mean))

    def _mean_score(
        self, trial: Any, worker: Worker, dataset: str, label: str, settings: dict[str, Any]
    ) -> float | None:
        """The mean over folds; None as soon as it fails or does worse than most did."""
        folds, scores = self._experiment.folds, []
        for fold in folds:
            score = self._score(worker, dataset, label, fold, settings)
            if score is None:
                return None
            scores.append(score)
            trial.report(sum(scores) / len(scores), fold)
            if len(scores) < len(folds) and trial.should_prune():
                return None
        return sum(scores) / len(scores)

    def _score(
        self, worker: Worker, dataset: str, label: str, fold: int, settings: dict[str, Any]
    ) -> float | None:
        """The score of a fold, from its record if it was made before; None if it failed."""
        experiment = self._experiment
        seed = experiment.seeds[0]
        run = Run(experiment.name, experiment.task, dataset, label, fold, seed, settings)
        made = {record["run"]: record for record in self._records.read()}
        if (record := made.get(run.identity)) is None:
            if self._stopped.is_set():
                raise Stopped
            record = worker(run)
            self._records.append(record)
        if record["status"] != OK:
            return None
        try:
            return float(record["metrics"][self._search.metric])
        except KeyError:
            raise ExperimentError(
                f"[search] expects a metric among {', '.join(sorted(record['metrics']))}; got "
                f"{self._search.metric!r}."
            ) from None


def _check_choices(name: str, choices: Any) -> None:
    if isinstance(choices, list) and choices:
        return
    bounds = isinstance(choices, dict) and set(choices) <= {"low", "high", "log"}
    if bounds and {"low", "high"} <= set(choices) and choices["low"] < choices["high"]:
        return
    raise ExperimentError(
        f"[search.space] expects a list, or a table with low, high and log, for {name}; "
        f"got {choices!r}."
    )


def _with(settings: dict[str, Any], names: list[str], value: Any) -> dict[str, Any]:
    """A copy of nested tables with one value replaced."""
    first, *rest = names
    inner = _with(settings.get(first, {}), rest, value) if rest else value
    return settings | {first: inner}


def _optuna() -> Any:
    try:
        import optuna
    except ModuleNotFoundError as error:
        raise ExperimentError(
            "expected Optuna for a search; it is not installed. Install gfsvi[search]."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def _storage(path: Path) -> Any:
    _optuna()
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


def _write(
    experiment: Experiment, search: Search, chosen: dict[str, dict[str, Any]], folder: Path
) -> Path:
    import tomlkit

    content = experiment.content | {"chosen": chosen}
    content.pop("search", None)
    # What the report said of the settings before does not hold of these.
    content["report"] = dict(content.get("report", {})) | {
        "text": f"Settings by search: for each method and data set the best of {search.num_trials} "
        f"trials by {search.metric}, averaged over folds."
    }
    path = folder / CHOSEN
    with atomic_path(path) as draft:
        draft.write_text(tomlkit.dumps(content), encoding="utf-8")
    return path
