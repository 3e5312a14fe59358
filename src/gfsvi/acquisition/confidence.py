"""Upper confidence: rows that may be good."""

import dataclasses

import numpy as np

from gfsvi.acquisition.base import AbstractAcquisition, Scores, State, in_batch
from gfsvi.acquisition.surrogate import given


@dataclasses.dataclass(frozen=True)
class Confidence(AbstractAcquisition):
    """The mean plus some standard deviations, which are those left once the batch is measured.

    Args:
        width: The number of standard deviations.
    """

    width: float = 2.0

    def reason(self, number: int) -> str:
        return in_batch(
            f"Best prediction with {self.width:g} standard deviations in its favour", number
        )

    def scores(self, state: State) -> Scores:
        def bounds(x: np.ndarray) -> np.ndarray:
            at = given(state.surrogate, x, state.pending, noisy=True)
            return at.mean + self.width * np.sqrt(at.variance)

        return bounds
