"""A task: what is done with a method on a data set, and what is measured."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from gfsvi.bench.experiment import Run

Arrays = dict[str, Any]


class AbstractTask(ABC):
    """What every run of an experiment carries out."""

    settings: ClassVar[tuple[str, ...]] = ()
    """Settings of a run that say what the task is, not what the method is."""

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
