"""Experiments: TOML files that name a task, data sets, methods and folds, and so their runs."""

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
from gfsvi.auto.recipe import recipe_for
from gfsvi.bench.data.own_tables import OwnTable, misspelt
from gfsvi.bench.schema import problem_of_experiment
from gfsvi.storage.fields import described

_KEYS = (
    *("title", "task", "datasets", "folds", "fewer_folds", "seeds"),
    *("settings", "methods", "chosen", "search", "report"),
)


Settings = dict[str, Any]
"""A table of a TOML file: strings, numbers, lists and further tables, by name."""


class ExperimentError(ValueError):
    """Raised if an experiment is invalid; the message is written for users."""


@dataclasses.dataclass(frozen=True)
class Run:
    """One run: a method on one fold of a data set, with one seed.

    Args:
        experiment: Name of the experiment.
        task: Name of the task.
        dataset: Name of the data set.
        label: Name of the method in this experiment.
        fold: Index of the fold.
        seed: Seed of all randomness other than the folds.
        settings: Settings of the method and its prior.
        without: Further data sets of the task that no reported score needs.
    """

    experiment: str
    task: str
    dataset: str
    label: str
    fold: int
    seed: int
    settings: Settings
    without: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Hash of everything that determines the outcome, which excludes the experiment's name."""
        content = dataclasses.asdict(self) | {"experiment": None}
        if not self.without:  # as the records of earlier versions
            del content["without"]
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True)
class Experiment:
    """What to run and how to report it.

    Args:
        name: Name of the file, without its suffix.
        title: Title of the report.
        task: Name of the task that every run performs.
        datasets: Names of the data sets, or FILE:COLUMN for tables of one's own.
        folds: Indices of the folds.
        fewer_folds: Data sets of which only the first folds are run, and their number.
        seeds: Seeds; every fold is run with each of them.
        settings: Settings shared by all methods.
        methods: Settings of each method, by label.
        chosen: Settings found by a search, by label and data set; they override the method's.
        search: Search space and budget.
        report: Contents and layout of the report.
    """

    name: str
    title: str
    task: str
    datasets: tuple[str, ...]
    folds: tuple[int, ...]
    fewer_folds: dict[str, int]
    seeds: tuple[int, ...]
    settings: Settings
    methods: dict[str, Settings]
    chosen: dict[str, dict[str, Settings]]
    search: Settings
    report: Settings

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Experiment":
        """Read an experiment from a TOML file; nothing in the file is executed."""
        path = Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise ExperimentError(
                f"expected an experiment at {path}; got the error '{error.strerror}'. "
                "Name a TOML file, such as one in the folder experiments."
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ExperimentError(
                f"expected TOML in {path}; got the error '{error}'. Fix the file."
            ) from error
        return cls.parse(path.stem, content)

    @classmethod
    def parse(cls, name: str, content: Settings) -> "Experiment":
        """Build an experiment from the parsed content of a TOML file."""
        unknown = sorted(set(content) - set(_KEYS))
        if unknown:
            raise ExperimentError(
                f"experiment {name} expects the keys {', '.join(_KEYS)}; got {unknown[0]!r}. "
                "Fix or remove it."
            )
        for key, kind in {"task": str, "datasets": list, "methods": dict}.items():
            if not isinstance(content.get(key), kind) or not content[key]:
                raise ExperimentError(
                    f"experiment {name} expects {key}; got {described(content.get(key))}. "
                    "See docs/do/experiments.md."
                )
        if (problem := problem_of_experiment(content)) is not None:
            raise ExperimentError(
                f"experiment {name} expects {problem}. See docs/do/experiments.md."
            )
        folds, seeds = content.get("folds", 5), content.get("seeds", [0])
        experiment = cls(
            name=name,
            title=str(content.get("title", name)),
            task=content["task"],
            datasets=tuple(content["datasets"]),
            folds=tuple(range(folds) if isinstance(folds, int) else folds),
            fewer_folds=content.get("fewer_folds", {}),
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
                    f"underscores; got {described(name)}. Choose another."
                )
        task = registry.find("tasks", self.task)
        for dataset in self.datasets:
            _check_dataset(dataset)
        _check_part("data sets", tuple(self.fewer_folds), self.datasets)
        for name in self.named_methods - set(task.peers):
            recipe_for(name)
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
        """Restrict the experiment to the given parts; parts that are not given stay complete."""
        _check_part("data sets", datasets, self.datasets)
        _check_part("methods", methods, tuple(self.methods))
        _check_part("folds", folds, self.folds)
        _check_part("seeds", seeds, self.seeds)
        chosen = datasets or self.datasets
        return dataclasses.replace(
            self,
            datasets=chosen,
            fewer_folds={d: n for d, n in self.fewer_folds.items() if d in chosen},
            methods={m: self.methods[m] for m in methods or self.methods},
            folds=folds or self.folds,
            seeds=seeds or self.seeds,
        )

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs, ordered by fold so that every method has a first result early."""
        return tuple(
            Run(
                self.name,
                self.task,
                dataset,
                label,
                fold,
                seed,
                self.settings_of(label, dataset),
                self.without,
            )
            for fold, seed, dataset, label in itertools.product(
                self.folds, self.seeds, self.datasets, self.methods
            )
            if fold in self.folds_of(dataset)
        )

    @property
    def without(self) -> tuple[str, ...]:
        """Further data sets of the task that no reported score needs."""
        needs = registry.find("tasks", self.task).needed_for
        reported = set(self.report.get("metrics", ()))
        return tuple(name for name, scores in needs.items() if not reported & set(scores))

    @property
    def named_methods(self) -> set[str]:
        """Names of the methods behind the labels."""
        return {table.get("method", label) for label, table in self.methods.items()}

    def folds_of(self, dataset: str) -> tuple[int, ...]:
        """Indices of the folds of a data set."""
        end = self.fewer_folds.get(dataset)
        return self.folds if end is None else tuple(fold for fold in self.folds if fold < end)

    def runs_of(self, dataset: str) -> int:
        """Number of planned runs of each method on a data set."""
        return len(self.folds_of(dataset)) * len(self.seeds)

    def settings_of(self, label: str, dataset: str) -> Settings:
        """Settings of a method: the experiment's, overridden by its own, then by chosen ones."""
        own = {"method": label} | self.methods[label]
        return self.settings | own | self.chosen.get(label, {}).get(dataset, {})

    @property
    def content(self) -> Settings:
        """Content of a TOML file that describes this experiment; the inverse of `parse`."""
        content = dataclasses.asdict(self)
        del content["name"]
        lists = {name: list(content[name]) for name in ("datasets", "folds", "seeds")}
        return {name: value for name, value in (content | lists).items() if value != {}}


def _check_dataset(name: object) -> None:
    if not isinstance(name, str):
        raise ExperimentError(f"expected names of data sets; got {name!r}. Write them as texts.")
    if OwnTable.named(name) is None:
        try:
            registry.find("datasets", name)
        except ValueError as error:
            raise ExperimentError(f"{error}{misspelt(name)}") from error


def _check_part(what: str, chosen: tuple[object, ...], known: tuple[object, ...]) -> None:
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise ExperimentError(
            f"expected {what} of this experiment ({', '.join(map(str, known))}); got {unknown[0]}."
        )
