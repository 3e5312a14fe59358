"""Tunes the methods of an experiment and writes the experiment that uses what was found."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from gfsvi.bench.experiment import Experiment, Settings
from gfsvi.bench.running.runner import Worker
from gfsvi.bench.search.space import Search
from gfsvi.bench.search.studies import OnTrial, Pair, Studies
from gfsvi.storage.files import write_text

CHOSEN = "chosen.toml"


def tune(
    experiment: Experiment,
    search: Search,
    folder: Path,
    workers: Sequence[Worker],
    *,
    on_trial: OnTrial = lambda trial: None,
) -> Path:
    """Search for every data set and method, and write the experiment with the best settings.

    Every run is a record in the folder, and every trial a line of its studies: after an
    interruption, the same call continues.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pairs = [(dataset, label) for dataset in experiment.datasets for label in experiment.methods]
    shared = _LockedIterator(iter(pairs))
    studies = Studies(experiment, search, folder, on_trial)
    chosen: dict[str, dict[str, Settings]] = {}
    pool = ThreadPoolExecutor(len(workers))
    try:
        for found in pool.map(studies.serve, workers, [shared] * len(workers)):
            for (dataset, label), settings in found.items():
                chosen.setdefault(label, {})[dataset] = settings
    finally:
        studies.stop()
        for worker in workers:
            worker.close()
        pool.shutdown()
    return _write(experiment, search, chosen, folder / CHOSEN)


class _LockedIterator(Iterator[Pair]):
    """An iterator that several threads may share."""

    def __init__(self, items: Iterator[Pair]):
        self._items, self._lock = items, threading.Lock()

    def __next__(self) -> Pair:
        with self._lock:
            return next(self._items)


def _write(
    experiment: Experiment, search: Search, chosen: dict[str, dict[str, Settings]], path: Path
) -> Path:
    import tomlkit

    content = experiment.content | {"chosen": chosen}
    content.pop("search", None)
    # The report's text described the settings before the search.
    content["report"] = dict(content.get("report", {})) | {
        "text": f"Settings by search: for each method and data set the best of {search.num_trials} "
        f"trials by {search.metric}, averaged over folds."
    }
    write_text(path, tomlkit.dumps(content))
    return path
