"""Optuna studies, one per data set and method, whose trials are runs of an experiment."""

import dataclasses
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gfsvi.bench.experiment import Experiment, ExperimentError, Run, Settings
from gfsvi.bench.running.records import OK, Records
from gfsvi.bench.running.runner import Stopped, Worker
from gfsvi.bench.search.space import Search
from gfsvi.numerics.extras import check_extra

if TYPE_CHECKING:
    import optuna

STUDIES = "studies.jsonl"
WARM_UP_TRIALS = 4
Pair = tuple[str, str]
"""A data set and the label of a method."""


@dataclasses.dataclass(frozen=True)
class Trial:
    """One choice of settings and its mean score; None if it failed or was pruned."""

    dataset: str
    method: str
    number: int
    settings: Settings
    score: float | None


OnTrial = Callable[[Trial], None]


class Studies:
    """The studies in a folder, one per data set and method."""

    def __init__(self, experiment: Experiment, search: Search, folder: Path, on_trial: OnTrial):
        self._experiment, self._search, self._on_trial = experiment, search, on_trial
        self._records = Records(folder)
        self._storage = _storage(folder / STUDIES)
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Start no further runs."""
        self._stopped.set()

    def serve(self, worker: Worker, pairs: Iterator[Pair]) -> dict[Pair, Settings]:
        """Search for one pair after another and return the settings chosen for each."""
        return {pair: self._chosen(worker, *pair) for pair in pairs}

    def _chosen(self, worker: Worker, dataset: str, label: str) -> Settings:
        import optuna

        study = optuna.create_study(
            study_name=f"{dataset}/{label}",
            storage=self._storage,
            direction="maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(n_startup_trials=WARM_UP_TRIALS),
        )
        _requeue_interrupted(study)
        finished = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
        while (count := len(study.get_trials(False, finished))) < self._search.num_trials:
            study.sampler = optuna.samplers.TPESampler(seed=count, n_startup_trials=WARM_UP_TRIALS)
            self._try(study, worker, dataset, label)
        if not study.get_trials(False, finished[:1]):
            raise ExperimentError(
                f"expected settings of {label} on {dataset} that do not fail; got none in "
                f"{self._search.num_trials} trials. See the errors in {self._records.path}."
            )
        return study.best_trial.user_attrs["chosen"]

    def _try(self, study: "optuna.Study", worker: Worker, dataset: str, label: str) -> None:
        import optuna

        trial = study.ask()
        before = self._experiment.settings_of(label, dataset)
        settings = self._search.suggest(trial, before)
        chosen = {name: value for name, value in settings.items() if before.get(name) != value}
        trial.set_user_attr("chosen", chosen)
        mean = self._mean_score(trial, worker, dataset, label, settings)
        state = optuna.trial.TrialState.PRUNED if mean is None else None
        study.tell(trial, mean, state=state)
        self._on_trial(Trial(dataset, label, trial.number, chosen, mean))

    def _mean_score(
        self, trial: "optuna.Trial", worker: Worker, dataset: str, label: str, settings: Settings
    ) -> float | None:
        """The mean over folds; None as soon as a run fails or the trial is pruned."""
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
        self, worker: Worker, dataset: str, label: str, fold: int, settings: Settings
    ) -> float | None:
        """The score of a fold, from its record if there is one; None if the run failed."""
        experiment = self._experiment
        seed = experiment.seeds[0]
        names = (experiment.name, experiment.task, dataset, label)
        run = Run(*names, fold, seed, settings, experiment.without)
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


def _requeue_interrupted(study: "optuna.Study") -> None:
    """Let trials that a killed process left running be tried again, first."""
    import optuna

    for trial in study.get_trials(False, (optuna.trial.TrialState.RUNNING,)):
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        study.enqueue_trial(trial.params)


def _storage(path: Path) -> "optuna.storages.BaseStorage":
    check_extra("search", "a search")
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return JournalStorage(JournalFileBackend(str(path)))
