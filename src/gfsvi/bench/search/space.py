"""The space and budget of a search."""

import dataclasses
from typing import TYPE_CHECKING, Any

from gfsvi import registry
from gfsvi.auto.recipe import recipe_for
from gfsvi.bench.experiment import Experiment, ExperimentError, Settings
from gfsvi.functions.bayesian_network import BayesianNetwork

if TYPE_CHECKING:
    import optuna

METRIC = "validation_expected_log_likelihood"
DEFAULT_SPACE: Settings = {
    "kernel": ["matern12", "matern32", "matern52", "rbf", "linear", "rational_quadratic"],
    "prior_scale": {"low": 0.1, "high": 10.0, "log": True},
    "network.activation": ["tanh", "relu"],
    "training.learning_rate": {"low": 1e-3, "high": 1e-1, "log": True},
}
"""The paper's space: kernel family, prior scale, activation and learning rate."""
SPACE_OF_LABELS: Settings = {"pseudo_count": {"low": 1e-4, "high": 1e-1, "log": True}}
"""What the paper searches besides, for labels as Gaussian targets: its alpha_epsilon."""


@dataclasses.dataclass(frozen=True)
class Search:
    """What to search for, and for how long.

    Args:
        num_trials: Trials per data set and method.
        metric: Metric to maximise, averaged over folds.
        space: Lists of choices, and ranges with `low`, `high` and `log`, by the name of a setting;
            dots in a name lead into tables.
    """

    num_trials: int
    metric: str
    space: Settings

    @classmethod
    def of(cls, experiment: Experiment, num_trials: int | None = None) -> "Search":
        """The search that an experiment describes, with the paper's space by default."""
        known = registry.find("tasks", experiment.task).settings
        space = DEFAULT_SPACE | {n: v for n, v in SPACE_OF_LABELS.items() if n in known}
        table = {"trials": 20, "metric": METRIC, "space": space} | experiment.search
        unknown = sorted(set(table) - {"trials", "metric", "space"})
        if unknown:
            raise ExperimentError(
                f"[search] expects trials, metric and space; got {unknown[0]!r}. Fix or remove it."
            )
        for name, choices in table["space"].items():
            _check_choices(name, choices)
        return cls(num_trials or table["trials"], table["metric"], table["space"])

    def suggest(self, trial: "optuna.Trial", settings: Settings) -> Settings:
        """Replace the settings that apply to the method by those that a trial suggests."""
        for name, choices in self.space.items():
            if not applies(name, settings["method"]) or _is_computed(name, settings):
                continue
            if isinstance(choices, list):
                value = trial.suggest_categorical(name, choices)
            elif isinstance(choices["low"], int) and isinstance(choices["high"], int):
                value = trial.suggest_int(name, **choices)
            else:
                value = trial.suggest_float(name, **choices)
            settings = _replaced(settings, name.split("."), value)
        return settings


def applies(name: str, method: str) -> bool:
    """Whether a method, or its prior, has a setting of that name."""
    kind = type(recipe_for(method).method)
    root = name.split(".")[0]
    over_weights = kind.prior_kind is BayesianNetwork
    if root in ("kernel", *SPACE_OF_LABELS):
        return not over_weights
    if root == "prior_scale":
        return over_weights
    fields = {field.name for field in dataclasses.fields(kind)}
    return root in fields or (root == "network" and over_weights)


def _is_computed(name: str, settings: Settings) -> bool:
    """Whether a setting is of a training that a covariance in closed form does not have."""
    closed = "covariance" not in settings and recipe_for(settings["method"]).leaves_rows_out
    return closed and name.startswith("training")


def _check_choices(name: str, choices: Any) -> None:
    if isinstance(choices, list) and choices:
        return
    if isinstance(choices, dict) and _is_range(choices):
        return
    raise ExperimentError(
        f"[search.space] expects a list, or a table with low, high and log, for {name}; "
        f"got {choices!r}."
    )


def _replaced(settings: Settings, names: list[str], value: Any) -> Settings:
    """A copy of nested tables with one value replaced."""
    first, *rest = names
    inner = _replaced(settings.get(first, {}), rest, value) if rest else value
    return settings | {first: inner}


def _is_range(choices: dict[str, Any]) -> bool:
    is_complete = {"low", "high"} <= set(choices) <= {"low", "high", "log"}
    return is_complete and choices["low"] < choices["high"]
