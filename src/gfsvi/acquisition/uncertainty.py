"""Rows where the model is least sure."""

import dataclasses

import numpy as np

from gfsvi.acquisition.base import AbstractAcquisition, Scores, State, in_batch
from gfsvi.acquisition.surrogate import given


@dataclasses.dataclass(frozen=True)
class Uncertainty(AbstractAcquisition):
    """The standard deviation of the function that is left once the batch is measured."""

    def reason(self, number: int) -> str:
        return in_batch("The model is least sure here", number)

    def scores(self, state: State) -> Scores:
        return lambda x: np.sqrt(given(state.surrogate, x, state.pending, noisy=True).variance)
