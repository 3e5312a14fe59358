"""Tasks: what a run does with a method and a data set, and what it measures."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from gfsvi.bench.data.dataset import Arrays as Arrays
from gfsvi.bench.experiment import Run
from gfsvi.numerics.process import for_small_matrices, with_one_thread

Measured = Mapping[str, float | np.ndarray]
"""Metrics, which are numbers, and series for figures, which are arrays, by name."""


class AbstractTask(ABC):
    """What every run of an experiment performs."""

    settings: ClassVar[tuple[str, ...]] = ()
    """Names of the settings that belong to the task rather than to the method."""

    needed_for: ClassVar[dict[str, tuple[str, ...]]] = {}
    """Further data sets, and the scores that need them; other experiments do without."""

    long_runs: ClassVar[bool] = False
    """Whether runs are long enough for optimised compilation to pay off."""

    peers: ClassVar[tuple[str, ...]] = ()
    """Names of methods outside of the library that the task admits."""

    @abstractmethod
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        """Perform a run and return its metrics and series.

        Args:
            run: The method, its settings, fold and seed.
            arrays: The arrays of each data set named by `datasets`.
        """

    def datasets(self, run: Run) -> tuple[str, ...]:
        """Names of the data sets that a run needs."""
        return (run.dataset,)

    @classmethod
    def variables(cls) -> dict[str, str]:
        """Environment variables of the processes that execute runs."""
        return with_one_thread() if cls.long_runs else for_small_matrices()
