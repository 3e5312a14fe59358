"""A fit that learns further rows, and says when it should be made again."""

import dataclasses
from typing import TYPE_CHECKING

import jax
import numpy as np
from jaxtyping import Float
from scipy import special

from gfsvi.auto.novelty import Novelty
from gfsvi.auto.unseen import UnseenRows, surprise_of
from gfsvi.data import row_codes
from gfsvi.diagnostics import Diagnostic
from gfsvi.functions.means import AbstractMean
from gfsvi.functions.tree_mean import TreeMean
from gfsvi.inference.updates import forget, predicted_and_learned
from gfsvi.model import Model

if TYPE_CHECKING:
    from gfsvi.auto.fitted import Fitted

WINDOW = 100
"""The latest rows, which are compared with the rows of the fit."""
FEWEST = 20
RARE = 0.05
"""The share of the rows of the fit that are as surprising, or as new, as a remarkable row."""
FALSE_ALARMS = 1e-5
"""Of windows of rows that are like the rows of the fit."""
NAME = "outgrown"


class RetrainWarning(UserWarning):
    """New rows are unlike those that the network was trained on: fit again."""


@dataclasses.dataclass(frozen=True)
class Updates:
    """What has been learned since the fit, and how the latest rows compare with those of the fit.

    Args:
        num_learned: The number of rows learned since the fit.
        num_forgotten: The number of rows taken out again.
        surprise: For each of the latest rows, the share of unseen rows of the fit that were at
            least as surprising.
        novelty: The same for how unlike other rows they are.
        known_novelty: The novelty of each row of the fit, given the others.
    """

    num_learned: int
    num_forgotten: int
    surprise: Float[np.ndarray, " latest"]
    novelty: Float[np.ndarray, " latest"]
    known_novelty: Float[np.ndarray, " row"]

    def finding(self, unseen: UnseenRows | None) -> Diagnostic | None:
        """The signal to fit again, if there is reason to."""
        known = len(self.known_novelty), 0.0 if unseen is None else unseen.size
        words = ("are further from the training rows", "surprised the model more")
        for p_values, size, word in zip((self.novelty, self.surprise), known, words, strict=True):
            count = int(np.sum(p_values <= RARE))
            if is_remarkable(count, len(p_values), size):
                return _outgrown(f"{count} of the latest {len(p_values)} rows {word}")
        return None


def is_remarkable(count: int, num_rows: int, num_known: float) -> bool:
    """Whether so many rare rows among the latest are more than chance explains.

    If new rows are like the known ones, the share of them beyond the k-th largest of n known
    values has a beta distribution, and their count a beta-binomial one.
    """
    rank = np.floor(RARE * (num_known + 1))
    if num_rows < FEWEST or rank < 1:
        return False
    counts = np.arange(count, num_rows + 1)
    log_ways = -np.log(num_rows + 1) - special.betaln(counts + 1, num_rows - counts + 1)
    log_odds = special.betaln(counts + rank, num_rows - counts + num_known + 1 - rank)
    log_odds -= special.betaln(rank, num_known + 1 - rank)
    return bool(np.sum(np.exp(log_ways + log_odds)) < FALSE_ALARMS)


def with_rows(
    fitted: "Fitted", x: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> "Fitted":
    """The fit after more rows; labels are given as class numbers."""
    updates = fitted.updates or _none_yet(fitted)
    data = fitted.standardized_data(x, y, weights)
    predictive, posterior = predicted_and_learned(fitted.posterior, data)
    surprise, novelty = updates.surprise, updates.novelty
    if fitted.unseen is not None:
        # On the model's scale: how surprising a row is does not depend on units.
        fresh = fitted.unseen.p_values(surprise_of(predictive, np.asarray(data.y)))
        surprise = np.concatenate([surprise, fresh])[-WINDOW:]
    if len(updates.known_novelty):
        known = UnseenRows(updates.known_novelty[:, None], np.ones(len(updates.known_novelty)))
        fresh = fitted.novelty_measure.at(np.asarray(data.x))
        novelty = np.concatenate([novelty, known.p_values(fresh[:, None])])[-WINDOW:]
    updates = dataclasses.replace(
        updates, num_learned=updates.num_learned + len(x), surprise=surprise, novelty=novelty
    )
    return _with(fitted, posterior, updates)


def without_rows(
    fitted: "Fitted", x: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> "Fitted":
    """The fit as if it had never seen these rows; labels are given as class numbers."""
    _check_not_seen_by_trees(fitted, x)
    updates = fitted.updates or _none_yet(fitted)
    updates = dataclasses.replace(updates, num_forgotten=updates.num_forgotten + len(x))
    posterior = forget(fitted.posterior, fitted.standardized_data(x, y, weights))
    return _with(fitted, posterior, updates)


def _check_not_seen_by_trees(fitted: "Fitted", x: np.ndarray) -> None:
    """Raise for rows of the fit itself if trees have learned them, which cannot forget."""
    known = fitted.unseen_values
    parts = jax.tree.leaves(fitted.posterior, is_leaf=lambda node: isinstance(node, AbstractMean))
    has_trees = any(isinstance(part, TreeMean) for part in parts)
    if not has_trees or known is None:
        return
    seen = int(np.sum(np.isin(row_codes(fitted.standardized(x)), known.codes)))
    if seen:
        raise ValueError(
            f"forget expects rows that were learned after the fit; got {seen} rows of the fit "
            "itself, which its trees have seen. Fit with prior_mean=None to take such rows out."
        )


def _with(fitted: "Fitted", posterior: Model, updates: Updates) -> "Fitted":
    """The fit with this posterior, and the signal to fit again if there is reason to."""
    others = tuple(found for found in fitted.diagnostics if found.name != NAME)
    finding = updates.finding(fitted.unseen)
    found = others if finding is None else (finding, *others)
    return dataclasses.replace(fitted, posterior=posterior, updates=updates, diagnostics=found)


def _none_yet(fitted: "Fitted") -> Updates:
    measure = fitted.novelty_measure
    known = measure.left_out() if isinstance(measure, Novelty) else np.zeros(0)
    return Updates(0, 0, np.zeros(0), np.zeros(0), known)


def _outgrown(finding: str) -> Diagnostic:
    return Diagnostic(
        NAME,
        "warning",
        "The rows have outgrown the fit",
        f"{finding} than 95 % of those rows would, had they been left out: new rows are learned, "
        "but by a network, a prior and a noise level that were chosen for others.",
        "Fit again with all rows.",
    )
