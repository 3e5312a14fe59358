"""Scores of rows that are predicted piece by piece: means over rows add up."""

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from gfsvi import metrics
from gfsvi.auto import scores
from gfsvi.auto.targets import Labels
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.tables.reading import TableError
from gfsvi.tables.sources import PIECE

if TYPE_CHECKING:
    from gfsvi.auto.fitted import Fitted

EXPECTED = "expected_log_likelihood"
SMALLEST_LOG = -700.0
CRPS_SAMPLES = 100
"""Draws per row: the mean over many rows hardly depends on it."""


class Part(NamedTuple):
    """The scores of a piece, or the predictions that it takes to compute them later."""

    num_rows: int
    means: dict[str, float]
    kept: tuple[np.ndarray, np.ndarray] | None = None


def evaluated_in_pieces(
    fitted: "Fitted",
    rows: np.ndarray,
    y: np.ndarray,
    decision: "scores.Decision | None" = None,
    *,
    piece: int = PIECE,
) -> dict[str, float]:
    """The scores of many rows of numbers, in the memory that a piece of them takes."""
    found = ScoresInPieces(fitted, decision)
    found.look_at(y)
    for start in range(0, len(y), piece):
        found.add(found.of(rows[start : start + piece], y[start : start + piece]))
    return found.whole()


class ScoresInPieces:
    """The scores of `Fitted.evaluate`, from pieces of a table.

    The baseline is the mean and spread of all targets, so that these are looked at first. Scores of
    labels rank all rows, whose probabilities are kept.

    Args:
        fitted: The fit.
        decision: When the positive one of two classes is predicted.
    """

    def __init__(self, fitted: "Fitted", decision: "scores.Decision | None" = None):
        self._fitted, self._decision = fitted, decision
        self._moments: list[np.ndarray] = []
        self._parts: list[Part] = []

    def look_at(self, y: np.ndarray) -> None:
        """Add the targets of a piece to those of the baseline."""
        columns = np.asarray(y, np.float64).reshape(len(y), -1) if len(y) else np.zeros((0, 1))
        if len(columns):
            centre = columns.mean(axis=0)
            squares = ((columns - centre) ** 2).sum(axis=0)
            self._moments.append(np.stack([np.full_like(centre, len(columns)), centre, squares]))

    def of(self, rows: Any, y: np.ndarray) -> Part:
        """The scores of a piece."""
        if not len(y):
            return Part(0, {})
        predictive = self._fitted.predict(rows)
        if isinstance(self._fitted.target, Labels):
            labels = cast(CategoricalPredictive, predictive)
            expected = {EXPECTED: float(metrics.expected_log_likelihood(labels, y))}
            with np.errstate(divide="ignore"):
                logs = np.log(np.asarray(labels.probabilities))
            return Part(len(y), expected, (np.maximum(logs, SMALLEST_LOG), np.asarray(y)))
        options = {"guess": self._guess(), "crps_samples": CRPS_SAMPLES}
        return Part(len(y), scores.evaluated(predictive, self._fitted.target, y, **options))

    def add(self, part: Part) -> None:
        """Count a piece."""
        self._parts.append(part)

    def whole(self) -> dict[str, float]:
        """The scores of all pieces."""
        parts = [part for part in self._parts if part.num_rows]
        if not parts:
            raise TableError(
                "expected rows whose target is known; got none. Use a table with the target."
            )
        if isinstance(self._fitted.target, Labels):
            return self._of_labels(parts)
        return {"num_rows": sum(part.num_rows for part in parts)} | self._means(parts)

    def _of_labels(self, parts: list[Part]) -> dict[str, float]:
        kept = [part.kept for part in parts if part.kept is not None]
        every, y = (np.concatenate(columns) for columns in zip(*kept, strict=True))
        predictive = CategoricalPredictive(cast(Any, every[None]))
        found = scores.evaluated(predictive, self._fitted.target, y, self._decision)
        return found | self._means(parts)

    def _means(self, parts: list[Part]) -> dict[str, float]:
        counts = np.array([part.num_rows for part in parts])
        names = [name for name in parts[0].means if name != "num_rows"]
        return {
            name: float(np.average([part.means[name] for part in parts], weights=counts))
            for name in names
        }

    def _guess(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and spread of all targets."""
        count, centre, squares = np.stack(self._moments, axis=1)
        total = count.sum(axis=0)
        mean = (count * centre).sum(axis=0) / total
        spread = (squares + count * (centre - mean) ** 2).sum(axis=0) / total
        return mean, np.sqrt(spread)
