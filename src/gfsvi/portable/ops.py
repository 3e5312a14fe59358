"""The operations that formulas are written in."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

Tensor = Any
"""What a framework computes with: it has +, -, *, /, ** and @, which broadcast as NumPy's."""


class AbstractOps(ABC):
    """Operations of a framework on arrays (..., row, column)."""

    @abstractmethod
    def constant(self, values: np.ndarray | float) -> Tensor:
        """An array of numbers."""

    @abstractmethod
    def exp(self, x: Tensor) -> Tensor:
        """The exponential."""

    @abstractmethod
    def log(self, x: Tensor) -> Tensor:
        """The natural logarithm."""

    @abstractmethod
    def sqrt(self, x: Tensor) -> Tensor:
        """The square root."""

    @abstractmethod
    def tanh(self, x: Tensor) -> Tensor:
        """The hyperbolic tangent."""

    @abstractmethod
    def sin(self, x: Tensor) -> Tensor:
        """The sine."""

    @abstractmethod
    def maximum(self, x: Tensor, y: Tensor) -> Tensor:
        """The larger of two."""

    @abstractmethod
    def total(self, x: Tensor) -> Tensor:
        """Sums over columns, (..., row, 1)."""

    @abstractmethod
    def turned(self, x: Tensor) -> Tensor:
        """Rows and columns exchanged."""

    @abstractmethod
    def columns(self, x: Tensor, places: Sequence[int]) -> Tensor:
        """Some of the columns."""

    def clipped(self, x: Tensor, low: np.ndarray | float, high: np.ndarray | float) -> Tensor:
        """Numbers moved into an interval, whose ends may be infinite."""
        if np.any(np.isfinite(low)):
            x = self.maximum(x, self.constant(low))
        if np.any(np.isfinite(high)):
            x = -self.maximum(-x, self.constant(-np.asarray(high)))
        return x
