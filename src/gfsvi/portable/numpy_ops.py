"""Operations of NumPy, to which others are compared."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from gfsvi.portable.ops import AbstractOps, Tensor


@dataclasses.dataclass(frozen=True)
class NumpyOps(AbstractOps):
    """Arrays of float64."""

    def constant(self, values: np.ndarray | float) -> Tensor:
        return np.asarray(values, np.float64)

    def exp(self, x: Tensor) -> Tensor:
        return np.exp(x)

    def log(self, x: Tensor) -> Tensor:
        return np.log(x)

    def sqrt(self, x: Tensor) -> Tensor:
        return np.sqrt(x)

    def tanh(self, x: Tensor) -> Tensor:
        return np.tanh(x)

    def sin(self, x: Tensor) -> Tensor:
        return np.sin(x)

    def maximum(self, x: Tensor, y: Tensor) -> Tensor:
        return np.maximum(x, y)

    def total(self, x: Tensor) -> Tensor:
        return np.sum(x, axis=-1, keepdims=True)

    def turned(self, x: Tensor) -> Tensor:
        return np.swapaxes(x, -1, -2)

    def columns(self, x: Tensor, places: Sequence[int]) -> Tensor:
        return x[..., list(places)]
