"""Kernels that can be evaluated in NumPy, without compiling anything."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.matern12 import Matern12
from gfsvi.kernels.matern32 import Matern32
from gfsvi.kernels.matern52 import Matern52
from gfsvi.kernels.one_of import OneOf
from gfsvi.kernels.rbf import RBF
from gfsvi.plain.kernels import CORRELATIONS, StationaryKernel

_NAMES = {RBF: "rbf", Matern12: "matern12", Matern32: "matern32", Matern52: "matern52"}


def kernel_in_numpy(kernel: AbstractKernel) -> StationaryKernel | None:
    """The same kernel in NumPy; None if it has no such form, or its parameters are traced."""
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(kernel)):
        return None
    if isinstance(kernel, OneOf):
        kernel = kernel.kernel
    if not isinstance(kernel, RBF | Matern12 | Matern32 | Matern52):
        return None
    lengthscale = np.reshape(np.asarray(kernel.lengthscale, np.float64), (1, -1))
    return StationaryKernel(CORRELATIONS[_NAMES[type(kernel)]], lengthscale, float(kernel.variance))


@dataclasses.dataclass(frozen=True)
class KernelThroughJax:
    """Any kernel, for computations that are otherwise in NumPy."""

    kernel: AbstractKernel

    def cross(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Covariances (row of x, row of z)."""
        return np.asarray(self.kernel.cross(jnp.asarray(x), jnp.asarray(z)))

    def gram(self, x: np.ndarray) -> np.ndarray:
        """Covariances of all pairs of rows."""
        return self.cross(x, x)

    def diagonal(self, x: np.ndarray) -> np.ndarray:
        """Variances at rows."""
        return np.asarray(self.kernel.diagonal(jnp.asarray(x)))
