"""An experiment is a TOML file: a task, data sets, methods and folds, which make runs."""

import dataclasses
import hashlib
import itertools
import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from gfsvi import registry

_KEYS = (
    *("title", "task", "datasets", "folds", "seeds"),
    *("settings", "methods", "chosen", "search", "report"),
)


class ExperimentError(ValueError):
    """An experiment that cannot be understood; the message is one sentence for people."""


@dataclasses.dataclass(frozen=True)
class Run:
    """One thing to do: a method on a fold of a data set.

    Args:
        experiment: Name of the experiment.
        task: Name of the task.
        dataset: Name of the data set.
        label: What the method is called in this experiment.
        fold: Number of the fold.
        seed: Of everything random besides the folds.
        settings: Of the method and its prior.
    """

    experiment: str
    task: str
    dataset: str
    label: str
    fold: int
    seed: int
    settings: dict[str, Any]

    @property
    def identity(self) -> str:
        """A hash of all that decides the outcome; the experiment's name does not."""
        content = dataclasses.asdict(self) | {"experiment": None}
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What is to be run, and how it is to be shown.

    Args:
        name: Of the file it came from, without its ending.
        title: One line for people.
        task: Name of the task that every run carries out.
        datasets: Names of the data sets.
        folds: Numbers of the folds.
        seeds: Every run is made with each.
        settings: Of the task, for every method.
        methods: Settings of each method, by its label.
        chosen: Settings by label and data set that a search has chosen, over those of the method.
        search: What a search may choose from.
        report: How the report shows it.
    """

    name: str
    title: str
    task: str
    datasets: tuple[str, ...]
    folds: tuple[int, ...]
    seeds: tuple[int, ...]
    settings: dict[str, Any]
    methods: dict[str, dict[str, Any]]
    chosen: dict[str, dict[str, dict[str, Any]]]
    search: dict[str, Any]
    report: dict[str, Any]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Experiment":
        """The experiment that a TOML file describes; nothing in it is executed."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ExperimentError(
                f"expected an experiment at {path}; got the error '{error.strerror}'. "
                "Name a TOML file, such as one of the folder experiments."
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ExperimentError(
                f"expected TOML in {path}; got the error '{error}'. Correct the file."
            ) from error
        return cls.parse(path.stem, content)

    @classmethod
    def parse(cls, name: str, content: dict[str, Any]) -> "Experiment":
        """The experiment that the tables of a TOML file describe."""
        unknown = sorted(set(content) - set(_KEYS))
        if unknown:
            raise ExperimentError(
                f"experiment {name} expects the keys {', '.join(_KEYS)}; got {unknown[0]!r}. "
                "Correct or remove it."
            )
        for key, kind in {"task": str, "datasets": list, "methods": dict}.items():
            if not isinstance(content.get(key), kind) or not content[key]:
                raise ExperimentError(
                    f"experiment {name} expects {key}; got {content.get(key)!r}. "
                    "See docs/do/experiments.md."
                )
        folds, seeds = content.get("folds", 5), content.get("seeds", [0])
        experiment = cls(
            name=name,
            title=str(content.get("title", name)),
            task=content["task"],
            datasets=tuple(content["datasets"]),
            folds=tuple(range(folds) if isinstance(folds, int) else folds),
            seeds=tuple(seeds),
            settings=content.get("settings", {}),
            methods={label: dict(table) for label, table in content["methods"].items()},
            chosen=content.get("chosen", {}),
            search=content.get("search", {}),
            report=content.get("report", {}),
        )
        experiment._check_names()
        return experiment

    def _check_names(self) -> None:
        for name in (*self.methods, *self.report.get("metrics", ())):
            if not re.fullmatch(r"[A-Za-z0-9_.-]+", str(name)):
                raise ExperimentError(
                    f"experiment {self.name} expects names of letters, digits, dots, dashes and "
                    f"underscores; got {name!r}. Choose another."
                )
        registry.find("tasks", self.task)
        for dataset in self.datasets:
            registry.find("datasets", dataset)
        for label, table in self.methods.items():
            registry.find("methods", table.get("method", label))
        for label, tables in self.chosen.items():
            _check_part("methods", (label,), tuple(self.methods))
            _check_part("data sets", tuple(tables), self.datasets)

    def only(
        self,
        *,
        datasets: tuple[str, ...] = (),
        methods: tuple[str, ...] = (),
        folds: tuple[int, ...] = (),
        seeds: tuple[int, ...] = (),
    ) -> "Experiment":
        """A part of the experiment; what is not named stays whole."""
        _check_part("data sets", datasets, self.datasets)
        _check_part("methods", methods, tuple(self.methods))
        _check_part("folds", folds, self.folds)
        _check_part("seeds", seeds, self.seeds)
        return dataclasses.replace(
            self,
            datasets=datasets or self.datasets,
            methods={m: self.methods[m] for m in methods or self.methods},
            folds=folds or self.folds,
            seeds=seeds or self.seeds,
        )

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run, fold by fold, so that each method has a first result soon."""
        return tuple(
            Run(self.name, self.task, dataset, label, fold, seed, self.settings_of(label, dataset))
            for fold, seed, dataset, label in itertools.product(
                self.folds, self.seeds, self.datasets, self.methods
            )
        )

    def settings_of(self, label: str, dataset: str) -> dict[str, Any]:
        """Settings of a method: its own over the experiment's, and over these the chosen ones."""
        own = {"method": label} | self.methods[label]
        return self.settings | own | self.chosen.get(label, {}).get(dataset, {})

    @property
    def content(self) -> dict[str, Any]:
        """The tables of a TOML file that describes this experiment; the inverse of `parse`."""
        content = dataclasses.asdict(self)
        del content["name"]
        lists = {name: list(content[name]) for name in ("datasets", "folds", "seeds")}
        return {name: value for name, value in (content | lists).items() if value != {}}


def _check_part(what: str, chosen: tuple[Any, ...], known: tuple[Any, ...]) -> None:
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise ExperimentError(
            f"expected {what} of this experiment ({', '.join(map(str, known))}); got {unknown[0]}."
        )
