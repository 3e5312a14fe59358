"""Adapters for kernels of other libraries, recognised without importing those libraries.

The parameters of a GPJax or tinygp kernel, and whatever a function closes over, are not trained.
A scikit-learn kernel is translated into our own kernels, which start at its parameters and can be
trained; `ExpSineSquared` is equivalent only for a single feature.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, Gram, Product
from gfsvi.kernels.constant import Constant
from gfsvi.kernels.distances import aligned_rows
from gfsvi.kernels.linear import Linear
from gfsvi.kernels.matern12 import Matern12
from gfsvi.kernels.matern32 import Matern32
from gfsvi.kernels.matern52 import Matern52
from gfsvi.kernels.periodic import Periodic
from gfsvi.kernels.rational_quadratic import RationalQuadratic
from gfsvi.kernels.rbf import RBF
from gfsvi.kernels.white import White
from gfsvi.numerics.types import Points

T = TypeVar("T")


def as_kernel(kernel: Any) -> AbstractKernel:
    """Convert a kernel of GPJax, tinygp or scikit-learn, or a function of two points."""
    if isinstance(kernel, AbstractKernel):
        return kernel
    if _descends_from(kernel, "gpjax", "AbstractKernel"):
        return GPJaxKernel(kernel)
    if _descends_from(kernel, "tinygp", "Kernel"):
        return TinyGPKernel(kernel)
    if _descends_from(kernel, "sklearn", "Kernel"):
        return _translated(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return FunctionKernel(kernel)
    raise TypeError(
        f"expected a kernel of gfsvi, GPJax, tinygp or scikit-learn, or a function k(x, z) of two "
        f"points; got {_described(kernel)}. For example: gfsvi.kernels.Matern52()."
    )


class GPJaxKernel(AbstractKernel):
    """A GPJax kernel, whose parameters are not trained."""

    kernel: Any

    def __check_init__(self) -> None:
        if not isinstance(self.kernel, eqx.Module):
            raise TypeError(
                f"expected a GPJax kernel that is an Equinox module; got "
                f"{_described(self.kernel)}. Use GPJax 1.0 or newer."
            )

    def cross(self, x: Points, z: Points) -> Gram:
        return _frozen(self.kernel).cross_covariance(*aligned_rows(x, z))

    def gram(self, x: Points) -> Gram:
        return _frozen(self.kernel).gram(*aligned_rows(x)).as_matrix()

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        kernel = _frozen(self.kernel)
        return jax.vmap(lambda point: kernel(point, point))(*aligned_rows(x))


class TinyGPKernel(AbstractKernel):
    """A tinygp kernel, whose parameters are not trained."""

    kernel: Any

    def cross(self, x: Points, z: Points) -> Gram:
        return _frozen(self.kernel)(jnp.asarray(x), jnp.asarray(z))

    def gram(self, x: Points) -> Gram:
        return self.cross(x, x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return _frozen(self.kernel)(jnp.asarray(x))


class FunctionKernel(AbstractKernel):
    """A function k(x, z) of two points, written with jax.numpy.

    The caller is responsible for it being symmetric and positive semi-definite.
    """

    function: Callable[..., Any] = eqx.field(static=True)

    def cross(self, x: Points, z: Points) -> Gram:
        over_z = jax.vmap(self._value, in_axes=(None, 0))
        return jax.vmap(over_z, in_axes=(0, None))(jnp.asarray(x), jnp.asarray(z))

    def gram(self, x: Points) -> Gram:
        return self.cross(x, x)

    def diagonal(self, x: Points) -> Float[Array, " point"]:
        return jax.vmap(self._value)(jnp.asarray(x), jnp.asarray(x))

    def _value(self, x: Array, z: Array) -> Array:
        value = jnp.asarray(self.function(x, z))
        if value.ndim > 0:
            raise ValueError(
                f"a kernel function expects two points and must return one number; got an array of "
                f"shape {value.shape} for points of shape {x.shape}. Sum over the features."
            )
        return value


def _frozen(kernel: T) -> T:
    def freeze(leaf: Any) -> Any:
        return jax.lax.stop_gradient(leaf) if eqx.is_inexact_array(leaf) else leaf

    return jax.tree.map(freeze, kernel)


def _descends_from(kernel: Any, library: str, name: str) -> bool:
    return any(
        base.__module__.split(".")[0] == library and base.__name__ == name
        for base in type(kernel).__mro__
    )


def _described(kernel: Any) -> str:
    if isinstance(kernel, type):
        return f"the class {kernel.__name__} itself"
    return f"{type(kernel).__module__}.{type(kernel).__name__}"


def _translated(kernel: Any) -> AbstractKernel:
    # A subclass may change the formula, so only scikit-learn's own classes are recognised.
    is_own = type(kernel).__module__.split(".")[0] == "sklearn"
    translate = _TRANSLATIONS.get(type(kernel).__name__) if is_own else None
    if translate is None:
        raise TypeError(
            f"expected one of scikit-learn's kernels {', '.join(_TRANSLATIONS)}; got "
            f"{_described(kernel)}. Write it as a function k(x, z) of two points instead."
        )
    return translate(kernel)


def _matern(kernel: Any) -> AbstractKernel:
    smoothness = {0.5: Matern12, 1.5: Matern32, 2.5: Matern52, np.inf: RBF}
    if kernel.nu not in smoothness:
        raise ValueError(
            f"expected a Matern kernel with nu 0.5, 1.5, 2.5 or inf; got nu={kernel.nu}. "
            f"Use the nearest of these."
        )
    return smoothness[kernel.nu](kernel.length_scale)


def _rational_quadratic(kernel: Any) -> AbstractKernel:
    return RationalQuadratic(kernel.length_scale, mixture=kernel.alpha)


def _exp_sine_squared(kernel: Any) -> AbstractKernel:
    """Equivalent for one feature; for more, scikit-learn puts the whole distance in one sine.

    That is not positive semi-definite, so our kernel with one sine per feature is used instead.
    """
    return Periodic(kernel.length_scale, period=kernel.periodicity)


def _dot_product(kernel: Any) -> AbstractKernel:
    return Linear() + kernel.sigma_0**2 if kernel.sigma_0 != 0 else Linear()


def _power(kernel: Any) -> AbstractKernel:
    exponent = kernel.exponent
    if exponent != int(exponent) or exponent < 1:
        raise ValueError(
            f"expected a power of a kernel with an integer exponent of at least 1; got {exponent}. "
            f"Other powers may not be positive semi-definite."
        )
    return Product((as_kernel(kernel.kernel),) * int(exponent))


_TRANSLATIONS: dict[str, Callable[[Any], AbstractKernel]] = {
    "RBF": lambda kernel: RBF(kernel.length_scale),
    "Matern": _matern,
    "RationalQuadratic": _rational_quadratic,
    "ExpSineSquared": _exp_sine_squared,
    "DotProduct": _dot_product,
    "ConstantKernel": lambda kernel: Constant(kernel.constant_value),
    "WhiteKernel": lambda kernel: White(kernel.noise_level),
    "Sum": lambda kernel: as_kernel(kernel.k1) + as_kernel(kernel.k2),
    "Product": lambda kernel: as_kernel(kernel.k1) * as_kernel(kernel.k2),
    "Exponentiation": _power,
}
