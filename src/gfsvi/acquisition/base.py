"""What every acquisition function provides."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gfsvi.acquisition.surrogate import Surrogate

Scores = Callable[[np.ndarray], np.ndarray]
"""From rows of numbers (row, feature) to how useful it is to measure them, (row,)."""


class State(NamedTuple):
    """What is known when the next row of a batch is chosen.

    Args:
        surrogate: The fit.
        best: The largest mean at the rows that were measured.
        pending: Rows that are already in the batch.
        random: The source of randomness.
    """

    surrogate: Surrogate
    best: float
    pending: np.ndarray
    random: np.random.Generator


class AbstractAcquisition(ABC):
    """How useful it is to measure a row."""

    @abstractmethod
    def scores(self, state: State) -> Scores:
        """The function that the next row maximises."""

    @abstractmethod
    def reason(self, number: int) -> str:
        """Why the row of this number in a batch is suggested, as the beginning of a sentence."""


def in_batch(words: str, number: int) -> str:
    """These words, with a mention of earlier rows of the batch if there are any."""
    return words if number == 0 else f"{words}, given the rows above"
