"""Information gain: rows that say most about the function."""

import dataclasses

import numpy as np

from gfsvi.acquisition.base import AbstractAcquisition, Scores, State, in_batch
from gfsvi.acquisition.surrogate import given


@dataclasses.dataclass(frozen=True)
class Information(AbstractAcquisition):
    """What an observation says about the function beyond the rows in the batch, in nats.

    The sum over a batch is the information that its observations have together: their joint
    entropy, less that of their noise.
    """

    def reason(self, number: int) -> str:
        return in_batch("Says most about the function", number)

    def scores(self, state: State) -> Scores:
        def gains(x: np.ndarray) -> np.ndarray:
            at = given(state.surrogate, x, state.pending, noisy=True)
            noise = np.maximum(state.surrogate.noise(x), np.finfo(float).tiny)
            return 0.5 * np.log1p(at.variance / noise)

        return gains
