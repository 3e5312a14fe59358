"""Everything the page shows, as plain numbers and strings: no HTML, no pictures."""

import dataclasses
from typing import Literal

import numpy as np

Task = Literal["regression", "classification"]


@dataclasses.dataclass(frozen=True)
class Score:
    """One measure of quality, for the model and for a plain guess."""

    name: str
    meaning: str
    model: float
    baseline: float
    is_share: bool = False


@dataclasses.dataclass(frozen=True)
class KernelPart:
    """One family of functions that the prior adds or multiplies."""

    family: str
    features: tuple[str, ...] = ()
    periods: tuple[tuple[str, float], ...] = ()


@dataclasses.dataclass(frozen=True)
class Relevance:
    """How far one goes along a feature until the target may have changed.

    `lengthscale` is in standard deviations of the feature; `own_scale` in its own units, where
    it has any.
    """

    feature: str
    lengthscale: float
    own_scale: float | None

    @property
    def value(self) -> float:
        """One over the length scale: zero for a feature that does not matter."""
        return 1 / self.lengthscale


@dataclasses.dataclass(frozen=True)
class PriorEvidence:
    """What was assumed of the function; relevances begin with the largest."""

    parts: tuple[KernelPart, ...]
    relevances: tuple[Relevance, ...]

    @property
    def about_weights(self) -> bool:
        """Whether it is a prior over weights, which knows no length scales."""
        return [part.family for part in self.parts] == ["BayesianNetwork"]


@dataclasses.dataclass(frozen=True)
class Curve:
    """How training went."""

    objective: np.ndarray
    score_steps: np.ndarray
    scores: np.ndarray
    best_step: int


@dataclasses.dataclass(frozen=True)
class Line:
    """A prediction along a feature: what is not known of the function, and of an observation."""

    label: str
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    observed_low: np.ndarray | None = None
    observed_high: np.ndarray | None = None


@dataclasses.dataclass(frozen=True)
class Effect:
    """Predictions while one column moves and the others stay where they usually are.

    `grid` holds numbers, or positions that `levels` names; `deciles` say where the data lie.
    """

    column: str
    grid: np.ndarray
    levels: tuple[str, ...] | None
    deciles: np.ndarray
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True)
class RegressionOutput:
    """One numeric target on the judged rows."""

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

    @property
    def typical_error(self) -> float:
        """Half of the judged rows are closer than this."""
        return float(np.median(np.abs(self.actual - self.predicted)))

    @property
    def coverage(self) -> float:
        """Share of the judged rows inside their 95 % interval."""
        return float(np.mean((self.lower <= self.actual) & (self.actual <= self.upper)))


@dataclasses.dataclass(frozen=True)
class ReliabilityBin:
    """Rows of similar confidence: what was claimed and what was right."""

    confidence: float
    accuracy: float
    count: int


@dataclasses.dataclass(frozen=True)
class ClassificationResult:
    """Labels on the judged rows; `confusion[i, j]` counts rows of class i called j."""

    name: str
    classes: tuple[str, ...]
    confusion: np.ndarray
    bins: tuple[ReliabilityBin, ...]
    scores: tuple[Score, ...]
    effects: tuple[Effect, ...]
    learnable_share: float

    @property
    def accuracy(self) -> float:
        """Share of the judged rows that were called right."""
        return float(np.trace(self.confusion) / np.sum(self.confusion))


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table that deserves a look."""

    number: int
    cells: tuple[str, ...]
    actual: str
    predicted: str
    interval: str
    novelty: float
    held_out: bool


@dataclasses.dataclass(frozen=True)
class Doubt:
    """Where the model is unsure; `columns` head the cells of the rows."""

    columns: tuple[str, ...]
    least_sure: tuple[Row, ...]
    most_novel: tuple[Row, ...]
    novelty: np.ndarray
    rows_looked_at: int


@dataclasses.dataclass(frozen=True)
class Finding:
    """A diagnostic, in words."""

    severity: str
    title: str
    message: str
    remedy: str


@dataclasses.dataclass(frozen=True)
class Evidence:
    """A fit, as far as the page tells of it; `outputs` or `labels` is filled, by the task."""

    task: Task
    targets: tuple[str, ...]
    table: str | None
    num_rows: int
    num_columns: int
    num_judged: int
    judged_on_training: bool
    prior: PriorEvidence
    curve: Curve | None
    outputs: tuple[RegressionOutput, ...]
    labels: ClassificationResult | None
    joint_scores: tuple[Score, ...]
    doubt: Doubt
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]
    settings: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    command: str | None
