"""Kernels in portable operations."""

import functools
import math
import operator
from collections.abc import Callable

import numpy as np

from gfsvi.plain.composed import ProductKernel, RestrictedKernel, SumKernel
from gfsvi.plain.kernels import CORRELATIONS, KernelInNumpy, StationaryKernel
from gfsvi.plain.time_kernels import (
    ConstantKernel,
    IntegratedBrownianKernel,
    LinearKernel,
    LocallyPeriodicKernel,
    PeriodicKernel,
)
from gfsvi.portable.ops import AbstractOps, Tensor

TINY = 1e-30
"""Squared distances begin here, so that their square roots have a derivative."""


class NotPortable(ValueError):
    """A part of a model that has no form in portable operations."""


def cross(ops: AbstractOps, kernel: KernelInNumpy, x: Tensor, z: Tensor) -> Tensor:
    """Covariances (..., row of x, row of z)."""
    if isinstance(kernel, SumKernel):
        return functools.reduce(operator.add, (cross(ops, term, x, z) for term in kernel.terms))
    if isinstance(kernel, ProductKernel):
        parts = (cross(ops, factor, x, z) for factor in kernel.factors)
        return functools.reduce(operator.mul, parts)
    if isinstance(kernel, RestrictedKernel):
        some = (ops.columns(rows, kernel.columns) for rows in (x, z))
        return cross(ops, kernel.kernel, *some)
    if isinstance(kernel, LocallyPeriodicKernel):
        return cross(ops, kernel._drift, x, z) * cross(ops, kernel._season, x, z)
    if type(kernel) not in _FAMILIES:
        raise NotPortable(f"the kernel {type(kernel).__name__}")
    return _FAMILIES[type(kernel)](ops, kernel, x, z)


def diagonal(ops: AbstractOps, kernel: KernelInNumpy, x: Tensor) -> Tensor:
    """The variance at each row, (..., row, 1)."""
    if isinstance(kernel, SumKernel):
        return functools.reduce(operator.add, (diagonal(ops, term, x) for term in kernel.terms))
    if isinstance(kernel, ProductKernel):
        parts = (diagonal(ops, factor, x) for factor in kernel.factors)
        return functools.reduce(operator.mul, parts)
    if isinstance(kernel, RestrictedKernel):
        return diagonal(ops, kernel.kernel, ops.columns(x, kernel.columns))
    if isinstance(kernel, LinearKernel):
        return ops.total(x * x * ops.constant(kernel.variance))
    if isinstance(kernel, IntegratedBrownianKernel):
        size = ops.maximum(x, -x)
        return ops.total(size * size * size * ops.constant(kernel.variance / 3))
    # The others are stationary: the variance is the same everywhere.
    variance = float(kernel.diagonal(np.zeros((1, 1)))[0])
    return ops.total(x * ops.constant(0.0)) + ops.constant(variance)


def squared_distances(ops: AbstractOps, x: Tensor, z: Tensor, lengthscale: np.ndarray) -> Tensor:
    """|x - z|^2 in length scales."""
    unit = ops.constant(1 / lengthscale)
    x, z = x * unit, z * unit
    norms = ops.total(x * x) + ops.turned(ops.total(z * z))
    return norms - ops.constant(2.0) * (x @ ops.turned(z))


def _stationary(ops: AbstractOps, kernel: StationaryKernel, x: Tensor, z: Tensor) -> Tensor:
    names = [name for name, known in CORRELATIONS.items() if known is kernel.correlation]
    if not names:
        raise NotPortable("this kernel")
    squared = squared_distances(ops, x, z, kernel.lengthscale)
    squared = ops.maximum(squared, ops.constant(TINY))
    return _CORRELATIONS[names[0]](ops, squared) * ops.constant(kernel.variance)


def _rbf(ops: AbstractOps, squared: Tensor) -> Tensor:
    return ops.exp(squared * ops.constant(-0.5))


def _matern12(ops: AbstractOps, squared: Tensor) -> Tensor:
    return ops.exp(-ops.sqrt(squared))


def _matern32(ops: AbstractOps, squared: Tensor) -> Tensor:
    s = ops.sqrt(squared) * ops.constant(math.sqrt(3))
    return (s + ops.constant(1.0)) * ops.exp(-s)


def _matern52(ops: AbstractOps, squared: Tensor) -> Tensor:
    s = ops.sqrt(squared) * ops.constant(math.sqrt(5))
    return (s * s * ops.constant(1 / 3) + s + ops.constant(1.0)) * ops.exp(-s)


def _constant(ops: AbstractOps, kernel: ConstantKernel, x: Tensor, z: Tensor) -> Tensor:
    nothing = ops.constant(0.0)
    return (
        ops.total(x * nothing) + ops.turned(ops.total(z * nothing)) + ops.constant(kernel.variance)
    )


def _linear(ops: AbstractOps, kernel: LinearKernel, x: Tensor, z: Tensor) -> Tensor:
    return (x * ops.constant(kernel.variance)) @ ops.turned(z)


def _brownian(ops: AbstractOps, kernel: IntegratedBrownianKernel, x: Tensor, z: Tensor) -> Tensor:
    """Each feature has its variance: `kernel.variance` has one for every feature."""
    if kernel.variance.size != 1:
        raise NotPortable("a wandering slope for each of several columns")
    zero, terms = ops.constant(0.0), []
    for sign in (ops.constant(1.0), ops.constant(-1.0)):
        # Of two numbers with different signs one is zero here, and so is their covariance.
        one = ops.maximum(x * sign, zero)
        other = ops.turned(ops.maximum(z * sign, zero))
        far = ops.maximum(one, other)
        near = one + other - far
        terms.append(near * near * (far * ops.constant(0.5) - near * ops.constant(1 / 6)))
    return (terms[0] + terms[1]) * ops.constant(kernel.variance)


def _periodic(ops: AbstractOps, kernel: PeriodicKernel, x: Tensor, z: Tensor) -> Tensor:
    if max(kernel.period.size, kernel.lengthscale.size) != 1:
        raise NotPortable("periods of several columns")
    frequency = ops.constant(np.pi / kernel.period)
    wave = ops.sin(x * frequency - ops.turned(z * frequency))
    return ops.exp(wave * wave * ops.constant(-2 / kernel.lengthscale**2)) * ops.constant(
        kernel.variance
    )


_CORRELATIONS: dict[str, Callable[[AbstractOps, Tensor], Tensor]] = {
    "rbf": _rbf,
    "matern12": _matern12,
    "matern32": _matern32,
    "matern52": _matern52,
}
_FAMILIES: dict[type, Callable[..., Tensor]] = {
    StationaryKernel: _stationary,
    ConstantKernel: _constant,
    LinearKernel: _linear,
    IntegratedBrownianKernel: _brownian,
    PeriodicKernel: _periodic,
}
