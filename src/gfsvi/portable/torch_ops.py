"""Operations of PyTorch, with gradients."""

# pyright: reportMissingImports=false
# PyTorch is optional.

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch

from gfsvi.portable.ops import AbstractOps, Tensor


@dataclasses.dataclass(frozen=True)
class TorchOps(AbstractOps):
    """Tensors of float64."""

    device: torch.device

    def constant(self, values: np.ndarray | float) -> Tensor:
        return torch.tensor(np.asarray(values, np.float64), device=self.device)

    def exp(self, x: Tensor) -> Tensor:
        return torch.exp(x)

    def log(self, x: Tensor) -> Tensor:
        return torch.log(x)

    def sqrt(self, x: Tensor) -> Tensor:
        return torch.sqrt(x)

    def tanh(self, x: Tensor) -> Tensor:
        return torch.tanh(x)

    def sin(self, x: Tensor) -> Tensor:
        return torch.sin(x)

    def maximum(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.maximum(x, y)

    def total(self, x: Tensor) -> Tensor:
        return torch.sum(x, dim=-1, keepdim=True)

    def turned(self, x: Tensor) -> Tensor:
        return x.transpose(-1, -2)

    def columns(self, x: Tensor, places: Sequence[int]) -> Tensor:
        return x[..., list(places)]
