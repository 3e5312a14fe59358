"""Random functions at given rows: the closed-form posterior of a network, and novelty."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from gfsvi.serving.parts import NotServed, Part, chosen

Values = np.ndarray
Layers = list[tuple[np.ndarray, np.ndarray]]
"""The inputs (row, input) and the signals (output, row, column) of each layer."""

BLOCK = 128
_CORRELATIONS: dict[str, Callable[[Values], Values]] = {
    "kernel:rbf": lambda squared: np.exp(-0.5 * squared),
    "kernel:matern12": lambda squared: np.exp(-np.sqrt(squared)),
    "kernel:matern32": lambda squared: _matern(math.sqrt(3.0) * np.sqrt(squared), 0.0),
    "kernel:matern52": lambda squared: _matern(math.sqrt(5.0) * np.sqrt(squared), 1 / 3),
}


def _matern(s: Values, curvature: float) -> Values:
    return (1 + s + curvature * s**2) * np.exp(-s)


@dataclasses.dataclass(frozen=True)
class StationaryKernel:
    """A kernel of the distance in length scales."""

    correlation: Callable[[Values], Values]
    lengthscale: np.ndarray
    variance: float

    @classmethod
    def of(cls, part: Part) -> "StationaryKernel":
        """The kernel that a part describes."""
        correlation = chosen(part, _CORRELATIONS)
        return cls(correlation, np.reshape(part.lengthscale, (1, -1)), float(part.variance))

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        centre = x.mean(axis=0)
        x, z = (x - centre) / self.lengthscale, (z - centre) / self.lengthscale
        norms = np.sum(x**2, axis=1)[:, None] + np.sum(z**2, axis=1)
        squared = norms - 2 * x @ z.T
        # What rounding leaves of the distance of coinciding rows, as in `kernels.distances`.
        rounding = (4 + math.sqrt(x.shape[1])) * np.finfo(np.float64).eps * norms
        return self.variance * self.correlation(np.where(squared > rounding, squared, 0))


@dataclasses.dataclass(frozen=True)
class TanhNetwork:
    """Dense layers with tanh between them, and a variance of the weights of each layer."""

    matrices: tuple[np.ndarray, ...]
    variances: tuple[float, ...]

    @classmethod
    def of(cls, part: Part) -> "TanhNetwork":
        """The network that a part with its tangents describes."""
        network = part.expect("function:tangents").network.expect("network:mlp")
        if network.activation != "tanh":
            raise NotServed(f"the activation {network.activation}")
        matrices = tuple(np.asarray(matrix, np.float64) for matrix in part.params)
        return cls(matrices, tuple(math.exp(2 * float(scale)) for scale in part.log_scales))

    def linearized(self, x: np.ndarray) -> tuple[np.ndarray, Layers]:
        """Outputs (output, row) and, by layer, the factors of their derivatives by the weights."""
        inputs = [x]
        for matrix in self.matrices[:-1]:
            inputs.append(np.tanh(inputs[-1] @ matrix[:-1] + matrix[-1]))
        outputs = inputs[-1] @ self.matrices[-1][:-1] + self.matrices[-1][-1]
        num_outputs = outputs.shape[1]
        each = np.eye(num_outputs)[:, None, :]
        signals = [np.broadcast_to(each, (num_outputs, len(x), num_outputs))]
        for matrix, values in zip(self.matrices[:0:-1], inputs[:0:-1], strict=True):
            signals.append(signals[-1] @ matrix[:-1].T * (1 - values**2))
        return outputs.T, list(zip(inputs, signals[::-1], strict=True))

    def tangents(self, layers: Layers, others: Layers) -> np.ndarray:
        """J D J'^T between rows, (output, row, other)."""
        terms = zip(self.variances, layers, others, strict=True)
        return sum(
            variance * (inputs @ z_inputs.T + 1) * (signals @ z_signals.swapaxes(-1, -2))
            for variance, (inputs, signals), (z_inputs, z_signals) in terms
        )  # pyright: ignore[reportReturnType]  # there is at least one layer


class ConjugatePosterior:
    """`functions.ConjugateNetwork`: means and variances of the function at each row."""

    def __init__(self, part: Part):
        part.expect("function:conjugate_network")
        self._network = TanhNetwork.of(part.tangents)
        prior = part.prior.expect("function:gaussian_process")
        self._kernel = StationaryKernel.of(prior.kernel)
        self._points, self._whitener = part.points, part.whitener
        self._shift, self._root, self._eps = part.shift, part.root, part.eps
        self._at_points = self._network.linearized(part.points)[1]

    def marginals(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances, each (output, row)."""
        f, layers = self._network.linearized(x)
        explained = self._whitener @ self._kernel.cross(x, self._points).T
        through_prior = self._eps[:, None, None] * (explained.T @ self._whitener)
        weights = self._network.tangents(layers, self._at_points) + through_prior
        mean = f + np.einsum("opz,oz->op", weights, self._shift)
        left = np.maximum(self._kernel.variance - np.sum(explained**2, axis=0), 0)
        return mean, np.sum((weights @ self._root) ** 2, axis=-1) + left


class Novelty:
    """`auto.novelty.Novelty`: the share of the prior's variance that training rows leave."""

    def __init__(self, part: Part):
        process = part.expect("novelty:novelty").process.expect("function:conditioned_process")
        prior = process.prior.expect("function:gaussian_process")
        self._kernel = StationaryKernel.of(prior.kernel)
        self._x, self._factor = process.x, process.factor[0]

    def at(self, x: np.ndarray) -> np.ndarray:
        """Novelty of each row."""
        explained = solve_lower(self._factor, self._kernel.cross(self._x, x))
        left = 1 - np.sum(explained**2, axis=0) / self._kernel.variance
        return np.clip(left, 0.0, 1.0)


def solve_lower(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve with a lower triangular matrix block by block: NumPy has no such solver."""
    solved = np.empty_like(right)
    for start in range(0, len(factor), BLOCK):
        rows = slice(start, start + BLOCK)
        known = right[rows] - factor[rows, :start] @ solved[:start]
        solved[rows] = np.linalg.solve(factor[rows, rows], known)
    return solved
