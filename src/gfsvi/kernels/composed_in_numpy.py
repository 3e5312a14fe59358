"""Kernels of every family, and their sums and products, in NumPy."""

import jax
import numpy as np
from jax.core import Tracer

from gfsvi.kernels.base import (
    AbstractKernel,
    ActiveDimensions,
    Product,
    Scaled,
    Shifted,
    Sum,
)
from gfsvi.kernels.constant import Constant
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.kernels.known import Known
from gfsvi.kernels.rational_quadratic import RationalQuadratic
from gfsvi.kernels.white import White
from gfsvi.plain.composed import (
    ProductKernel,
    RestrictedKernel,
    SumKernel,
    WhiteKernel,
    rational_quadratic,
)
from gfsvi.plain.kernels import KernelInNumpy, StationaryKernel


def composed_in_numpy(kernel: AbstractKernel) -> KernelInNumpy | None:
    """The same kernel in NumPy; None if a part has no such form, or parameters are traced."""
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(kernel)):
        return None
    return _converted(kernel)


def _converted(kernel: AbstractKernel) -> KernelInNumpy | None:
    simple = kernel_in_numpy(kernel)
    if simple is not None:
        return simple
    if isinstance(kernel, Sum):
        terms = _all(kernel.terms)
        return None if terms is None else SumKernel(terms)
    if isinstance(kernel, Product):
        factors = _all(kernel.factors)
        return None if factors is None else ProductKernel(factors)
    if isinstance(kernel, Known):
        return _converted(kernel.kernel)
    if isinstance(kernel, ActiveDimensions):
        inner = _converted(kernel.kernel)
        return None if inner is None else RestrictedKernel(inner, kernel.columns)
    if isinstance(kernel, Scaled | Shifted):
        parts = _all((kernel.kernel, Constant(kernel.variance)))
        combine = ProductKernel if isinstance(kernel, Scaled) else SumKernel
        return None if parts is None else combine(parts)
    return _of_family(kernel)


def _of_family(kernel: AbstractKernel) -> KernelInNumpy | None:
    if isinstance(kernel, RationalQuadratic):
        correlation = rational_quadratic(float(kernel.mixture))
        return StationaryKernel(correlation, _row(kernel.lengthscale), float(kernel.variance))
    if isinstance(kernel, White):
        return WhiteKernel(float(kernel.variance))
    return None


def _all(kernels: tuple[AbstractKernel, ...]) -> tuple[KernelInNumpy, ...] | None:
    found = tuple(inner for kernel in kernels if (inner := _converted(kernel)) is not None)
    return found if len(found) == len(kernels) else None


def _row(value: object) -> np.ndarray:
    return np.reshape(np.asarray(value, np.float64), (1, -1))
