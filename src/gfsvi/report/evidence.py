"""Everything the page shows, as plain numbers and strings without HTML or pictures."""

import dataclasses
import math
from typing import Literal

import numpy as np

from gfsvi.auto.composition import Composition
from gfsvi.auto.importance import Importance

Task = Literal["regression", "classification"]
JudgedOn = Literal["held_out", "future", "left_out", "trained"]
"""Held-out rows, the latest ones if they are in time order, training rows each predicted without
itself, or training rows."""


@dataclasses.dataclass(frozen=True)
class Score:
    """One measure of quality, for the model and for a baseline that ignores the columns."""

    name: str
    meaning: str
    model: float
    baseline: float
    is_share: bool = False


@dataclasses.dataclass(frozen=True)
class Distance:
    """A distance along a column, in its own units; those of dates are days."""

    column: str
    length: float
    in_days: bool = False


@dataclasses.dataclass(frozen=True)
class KernelPart:
    """One kernel family that the prior adds or multiplies, and the features that it sees.

    Periods are in the units of the feature, or texts such as "1 year".
    """

    family: str
    features: tuple[str, ...] = ()
    periods: tuple[tuple[str, float | str], ...] = ()


@dataclasses.dataclass(frozen=True)
class LengthScale:
    """How far to move along a column before the target can change considerably.

    `value` is in standard deviations of the column, `in_units` in its own units if it has any;
    those of dates are days.
    """

    column: str
    value: float
    in_units: float | None
    in_days: bool = False


@dataclasses.dataclass(frozen=True)
class PriorEvidence:
    """What the prior assumes about the function; the shortest length scale comes first.

    `limits` says which predictions are excluded, `turns` how far apart changes of direction are
    (0 if there is no such distance), `values` where 95 % of the function's values are.
    """

    parts: tuple[KernelPart, ...]
    length_scales: tuple[LengthScale, ...]
    limits: str | None = None
    turns: tuple[Distance, ...] = ()
    values: tuple[float, float] | None = None

    @property
    def about_weights(self) -> bool:
        """Whether it is a prior over weights, which has no length scales."""
        return [part.family for part in self.parts] == ["BayesianNetwork"]


@dataclasses.dataclass(frozen=True)
class Curve:
    """The objective at each step, and the score on held-out rows at some of them."""

    objective: np.ndarray
    score_steps: np.ndarray
    scores: np.ndarray
    best_step: int


@dataclasses.dataclass(frozen=True)
class Line:
    """Predictions along a column, with intervals for the function and for an observation."""

    label: str
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    observed_low: np.ndarray | None = None
    observed_high: np.ndarray | None = None

    @property
    def lowest(self) -> np.ndarray:
        """The lower edge of everything that is drawn."""
        return self.low if self.observed_low is None else self.observed_low

    @property
    def highest(self) -> np.ndarray:
        """The upper edge of everything that is drawn."""
        return self.high if self.observed_high is None else self.observed_high


@dataclasses.dataclass(frozen=True)
class Effect:
    """Predictions while one column varies and the others keep a typical value.

    `grid` holds numbers, days since `first_day`, or positions that `levels` names; `deciles` are
    those of the data.
    """

    column: str
    grid: np.ndarray
    levels: tuple[str, ...] | None
    deciles: np.ndarray
    lines: tuple[Line, ...]
    first_day: str | None = None
    is_whole: bool = False


@dataclasses.dataclass(frozen=True)
class RegressionOutput:
    """Predictions of one numeric target for the judged rows."""

    name: str
    actual: np.ndarray
    predicted: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    levels: np.ndarray
    coverages: np.ndarray
    scores: tuple[Score, ...]
    effects: tuple[Effect, ...]
    explained_share: float
    noise: float
    independent_rows: float = math.inf

    @property
    def num_independent(self) -> float:
        """How many independent rows the judged rows are worth; successive errors are alike."""
        return max(min(self.independent_rows, len(self.actual)), 1)

    @property
    def coverage_error(self) -> float:
        """Two standard errors of the coverage."""
        share = np.clip(self.coverage, 0.05, 0.95)
        return float(sampling_error(share, self.num_independent))

    @property
    def median_error(self) -> float:
        """The median absolute error on the judged rows."""
        return float(np.median(np.abs(self.actual - self.predicted)))

    @property
    def coverage(self) -> float:
        """The share of the judged rows inside their 95 % interval."""
        return float(np.mean((self.lower <= self.actual) & (self.actual <= self.upper)))


@dataclasses.dataclass(frozen=True)
class ReliabilityBin:
    """Rows of similar confidence: their mean confidence and their accuracy."""

    confidence: float
    accuracy: float
    count: int


@dataclasses.dataclass(frozen=True)
class ClassificationResult:
    """Predicted classes of the judged rows; `confusion[i, j]` counts class i predicted as j."""

    classes: tuple[str, ...]
    confusion: np.ndarray
    bins: tuple[ReliabilityBin, ...]
    scores: tuple[Score, ...]
    effects: tuple[Effect, ...]
    learnable_share: float

    @property
    def accuracy(self) -> float:
        """The share of the judged rows that were classified correctly."""
        return float(np.trace(self.confusion) / np.sum(self.confusion))


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table that is worth inspecting."""

    number: int
    cells: tuple[str, ...]
    actual: str
    predicted: str
    interval: str
    novelty: float
    held_out: bool


@dataclasses.dataclass(frozen=True)
class Uncertainty:
    """Where the model is uncertain; `columns` names the cells of each row."""

    columns: tuple[str, ...]
    most_uncertain: tuple[Row, ...]
    most_novel: tuple[Row, ...]
    novelty: np.ndarray
    num_rows_examined: int


@dataclasses.dataclass(frozen=True)
class Finding:
    """A diagnostic in words, and the command to try next if there is one."""

    severity: str
    title: str
    message: str
    remedy: str
    command: str | None = None


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Everything the page says about a fit; the task decides between `outputs` and `labels`.

    `are_learned` says that the held-out rows were learned after they had been predicted; `seasons`
    has the trend and the seasons of each output, if the prior has any; `composition` says how much
    builds on trees, if anything.
    """

    task: Task
    targets: tuple[str, ...]
    table: str | None
    num_rows: int
    num_columns: int
    num_judged: int
    num_held_out: int
    judged_on: JudgedOn
    are_learned: bool
    time_column: str | None
    prior: PriorEvidence
    importance: Importance
    curve: Curve | None
    outputs: tuple[RegressionOutput, ...]
    labels: ClassificationResult | None
    joint_scores: tuple[Score, ...]
    uncertainty: Uncertainty
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    command: str | None
    seasons: tuple[tuple[Effect, ...], ...] = ()
    composition: Composition | None = None


def sampling_error(share: np.ndarray, num_rows: float | np.ndarray) -> np.ndarray:
    """Two standard errors of a share that is estimated from a number of rows."""
    return 2 * np.sqrt(share * (1 - share) / num_rows)
