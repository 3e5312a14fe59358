"""The multilayer perceptron with tanh in NumPy."""

import dataclasses

import numpy as np

SMALL = 0.1
"""The size of initial outputs, as a share of what independent weights would give."""

NEGLIGIBLE = 1e-30
"""A share of the largest variance of weights that does not show."""

Layers = list[tuple[np.ndarray, np.ndarray]]
"""The inputs (row, input) and the signals (output, row, column) of each layer."""


@dataclasses.dataclass(frozen=True)
class TanhNetwork:
    """Dense layers with tanh between them.

    Args:
        matrices: The weights of each layer, (input + 1, output): the last row is the bias.
    """

    matrices: tuple[np.ndarray, ...]

    def activations(self, x: np.ndarray) -> list[np.ndarray]:
        """The inputs of every layer, and last the outputs (row, output)."""
        found = [x]
        for matrix in self.matrices[:-1]:
            inner = found[-1] @ matrix[:-1]
            inner += matrix[-1]
            found.append(np.tanh(inner, out=inner))
        found.append(found[-1] @ self.matrices[-1][:-1] + self.matrices[-1][-1])
        return found

    def gradient(self, activations: list[np.ndarray], slopes: np.ndarray) -> list[np.ndarray]:
        """Derivatives by the matrices of something whose derivatives by the outputs are given.

        Args:
            activations: What `activations` returned.
            slopes: The derivatives by the outputs, (row, output).
        """
        gradients, signal = [], slopes
        for number in reversed(range(len(self.matrices))):
            matrix, inputs = self.matrices[number], activations[number]
            gradient = np.empty_like(matrix)
            np.matmul(inputs.T, signal, out=gradient[:-1])
            gradient[-1] = signal.sum(axis=0)
            gradients.append(gradient)
            if number:
                signal = signal @ matrix[:-1].T
                signal *= 1 - inputs**2
        return gradients[::-1]

    def linearized(self, x: np.ndarray, first: int = 0) -> tuple[np.ndarray, Layers]:
        """Outputs (output, row) and, by layer, the factors of their derivatives by the weights.

        Layers before the `first` are left out.
        """
        *inputs, outputs = self.activations(x)
        num_outputs = outputs.shape[1]
        each = np.eye(num_outputs)[:, None, :]
        signals = [np.broadcast_to(each, (num_outputs, len(x), num_outputs))]
        for matrix, values in zip(self.matrices[:first:-1], inputs[:first:-1], strict=True):
            signals.append(signals[-1] @ matrix[:-1].T * (1 - values**2))
        return outputs.T, list(zip(inputs[first:], signals[::-1], strict=True))


def first_moving(variances: tuple[float, ...]) -> int:
    """The first layer whose weights have a variance that counts."""
    return next(i for i, v in enumerate(variances) if v > NEGLIGIBLE * max(variances))


def tangents(variances: tuple[float, ...], layers: Layers, others: Layers) -> np.ndarray:
    """J D J'^T between rows, (output, row, other), D a variance per layer.

    If there is only the last layer, all outputs are alike: (1, row, other).
    """
    *terms, last = zip(variances[-len(layers) :], layers, others, strict=True)
    variance, (inputs, _), (z_inputs, _) = last
    # Each output has its own weights in the last layer, and moves as fast as any other.
    total = variance * (inputs @ z_inputs.T + 1)[None]
    for variance, (inputs, signals), (z_inputs, z_signals) in terms:
        slopes = signals @ z_signals.swapaxes(-1, -2)
        slopes *= variance * (inputs @ z_inputs.T + 1)
        total = total + slopes
    return total


def random_network(
    x: np.ndarray, widths: tuple[int, ...], lengths: np.ndarray | None, random: np.random.Generator
) -> TanhNetwork:
    """Random weights for inputs like these, as `gfsvi.networks.MLP` begins with.

    Outputs begin near zero, the mean of a prior: what the network is away from data, at random,
    would be an error there.

    Args:
        x: Inputs (row, feature); each unit's activation is centred on one of them.
        widths: The width of each layer, the last being the number of outputs.
        lengths: If given, units of the first layer change by about one over one length scale.
        random: The source of randomness.
    """
    matrices, inputs = [], x
    for width in widths:
        fan_in = inputs.shape[1]
        matrix = random.normal(size=(fan_in + 1, width)) / fan_in**0.5
        if lengths is not None and not matrices:
            matrix[:-1] *= (fan_in**0.5 / lengths)[:, None]
        centres = inputs[random.integers(len(inputs), size=width)]
        matrix[-1] = -np.einsum("oi,io->o", centres, matrix[:-1])
        matrices.append(matrix)
        inputs = np.tanh(inputs @ matrix[:-1] + matrix[-1])
    matrices[-1][-1] = 0  # no activation follows
    matrices[-1] *= SMALL
    return TanhNetwork(tuple(matrices))
