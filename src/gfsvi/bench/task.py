"""A task: what is done with a method on a data set, and what is measured."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from gfsvi.bench.experiment import Run
from gfsvi.numerics.process import for_small_matrices, with_one_thread

Arrays = dict[str, Any]


class AbstractTask(ABC):
    """What every run of an experiment carries out."""

    settings: ClassVar[tuple[str, ...]] = ()
    """Settings of a run that say what the task is, not what the method is."""

    long_runs: ClassVar[bool] = False
    """Whether programs that run faster are worth taking longer to compile."""

    @abstractmethod
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        """Metrics by name, which are numbers, and series for pictures, which are arrays.

        Args:
            run: The method, its settings, fold and seed.
            arrays: Arrays of each data set that `datasets` names.
        """

    def datasets(self, run: Run) -> tuple[str, ...]:
        """Names of the data sets that a run needs."""
        return (run.dataset,)

    @classmethod
    def variables(cls) -> dict[str, str]:
        """Variables of a process that carries out runs."""
        return with_one_thread() if cls.long_runs else for_small_matrices()
