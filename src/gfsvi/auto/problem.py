"""The input and output of inference, on the standardised scale."""

import dataclasses
from typing import NamedTuple

import numpy as np

from gfsvi.auto.novelty import Novelty, VarianceShare
from gfsvi.auto.settings import Settings
from gfsvi.data import Data
from gfsvi.diagnostics import Diagnostic
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.training.history import History


@dataclasses.dataclass(frozen=True)
class Problem:
    """Standardised rows, some of them held out, and the likelihood of their targets.

    Args:
        rows: All rows.
        data: The rows to train on.
        validation: The held-out rows, if there are any.
        validation_rows: The positions of the held-out rows among all rows.
        likelihood: How the targets scatter around the function.
        feature_names: One name per feature.
        settings: The sizes of the fit.
    """

    rows: Data
    data: Data
    validation: Data | None
    validation_rows: np.ndarray
    likelihood: AbstractLikelihood
    feature_names: tuple[str, ...]
    settings: Settings

    @property
    def num_outputs(self) -> int:
        """The number of outputs that the function needs."""
        return self.likelihood.num_outputs(self.rows.y)


class Solution(NamedTuple):
    """The chosen prior, the posterior under it, and what is known about both."""

    prior: Model
    posterior: Model
    history: History
    novelty_measure: Novelty | VarianceShare
    diagnostics: tuple[Diagnostic, ...]


def hold_out(data: Data, fraction: float, seed: int) -> tuple[Data, Data | None, np.ndarray]:
    """Split into training rows, held-out rows if there are enough, and positions of the latter."""
    order = np.random.default_rng(seed).permutation(len(data))
    count = round(fraction * len(data))
    if count < 2 or len(data) - count < 2:
        return data, None, np.zeros(0, int)
    held_out, rest = np.sort(order[:count]), np.sort(order[count:])
    return data.take(rest), data.take(held_out), held_out
