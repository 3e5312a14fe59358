"""Thompson sampling: the best row of a function drawn from the model."""

import dataclasses

import numpy as np

from gfsvi.acquisition.base import AbstractAcquisition, Scores, State
from gfsvi.acquisition.surrogate import JITTER, Surrogate, rooted


@dataclasses.dataclass(frozen=True)
class Thompson(AbstractAcquisition):
    """The value of one function drawn from the model; each row of a batch has its own function."""

    def reason(self, number: int) -> str:
        return "Best row of a function that was drawn from the model"

    def scores(self, state: State) -> Scores:
        return DrawnFunction(state.surrogate, state.random)


class DrawnFunction:
    """An exact draw of a whole function, known where it has been asked for its values.

    Values asked for later are drawn given those that are known.
    """

    def __init__(self, surrogate: Surrogate, random: np.random.Generator):
        self._surrogate, self._random = surrogate, random
        self._x: np.ndarray | None = None
        self._white, self._jitter = np.zeros(0), JITTER

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The values at rows, (row,)."""
        known = len(self._white)
        rows = x if self._x is None else np.concatenate([self._x, x])
        white = np.concatenate([self._white, self._random.normal(size=len(x))])
        mean, cov = self._surrogate.joint(rows)
        factor, self._jitter = rooted(cov, self._jitter)
        # The same standard normal numbers for known rows give the same values there.
        values = mean + factor @ white
        self._x, self._white = rows, white
        return values[known:]
