"""The covariance of vector fields in the plane in NumPy."""

import dataclasses

import numpy as np

ROTATION = np.array([[0.0, 1.0], [-1.0, 0.0]])
"""From the gradient of a stream function to its flow."""


@dataclasses.dataclass(frozen=True)
class PlainField:
    """The gradient of a potential plus the flow of a stream function, independent of each other.

    `gfsvi.kernels.helmholtz.HelmholtzKernel` in NumPy, with one family and one length scale for
    both parts.

    Args:
        family: "rbf" or "matern52".
        lengthscale: The length scale of potential and stream function.
        potential: The variance of the potential.
        stream: The variance of the stream function.
    """

    family: str
    lengthscale: float
    potential: float
    stream: float

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances of all components at positions (position, 2), which alternate in rows."""
        gradient = self._gradient(x, z)
        turned = np.einsum("ij,nmjk,lk->nmil", ROTATION, gradient, ROTATION, optimize=True)
        both = self.potential * gradient + self.stream * turned
        return both.transpose(0, 2, 1, 3).reshape(2 * len(x), 2 * len(z))

    @property
    def share_of_slope(self) -> float:
        """The variance of a derivative of a function with unit variance and length scale."""
        return 1.0 if self.family == "rbf" else 5 / 3

    def _gradient(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """d^2 k(x, z) / dx dz of a kernel with unit variance, (position, other, 2, 2)."""
        difference = (x[:, None] - z[None]) / self.lengthscale
        squared = np.sum(difference**2, axis=-1)
        if self.family == "rbf":
            first = -0.5 * np.exp(-0.5 * squared)
            second = 0.25 * np.exp(-0.5 * squared)
        else:
            s = np.sqrt(5 * squared)
            first, second = -5 / 6 * (1 + s) * np.exp(-s), 25 / 12 * np.exp(-s)
        outer = difference[..., :, None] * difference[..., None, :]
        gradient = -4 * second[..., None, None] * outer
        gradient -= 2 * first[..., None, None] * np.eye(2)
        return gradient / self.lengthscale**2
