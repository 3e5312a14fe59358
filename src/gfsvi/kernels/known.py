"""A kernel whose parameters are known."""

import equinox as eqx
import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram, check_kernels
from gfsvi.kernels.code import code_of
from gfsvi.numerics.types import Points


def _with_known_numbers(kernel: AbstractKernel) -> AbstractKernel:
    """The kernel with Python floats, which are never learned, in place of arrays."""

    def known(leaf: object) -> object:
        if not isinstance(leaf, np.ndarray | jax.Array) or isinstance(leaf, Tracer):
            return leaf
        if np.ndim(leaf):
            raise ValueError(
                f"Known expects a kernel with single numbers; got an array of shape "
                f"{np.shape(leaf)}. Multiply kernels of single features instead: kernel.on(0)."
            )
        return float(leaf)

    return jax.tree.map(known, kernel) if isinstance(kernel, AbstractKernel) else kernel


class Known(AbstractKernel):
    """A kernel that is used as it is stated: a fit learns none of its parameters.

    `Known(0.5 * RBF(lengthscale="3 weeks").on("date"))`, also on the command line.
    """

    proportional_to = "kernel"
    kernel: AbstractKernel = eqx.field(converter=_with_known_numbers)

    def __check_init__(self) -> None:
        check_kernels(self, self.kernel)

    def cross(self, x: Points, z: Points) -> Gram:
        return self.kernel.cross(x, z)

    def gram(self, x: Points) -> Gram:
        return self.kernel.gram(x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return self.kernel.diagonal(x)


@code_of.register
def _(kernel: Known, digits: int) -> str:
    return f"Known({kernel.kernel.code(digits)})"
