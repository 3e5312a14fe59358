"""Kernels that can be evaluated in NumPy, without compiling anything."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from gfsvi.kernels.base import AbstractKernel, ActiveDimensions, Product, Sum
from gfsvi.kernels.constant import Constant
from gfsvi.kernels.integrated_brownian import IntegratedBrownian
from gfsvi.kernels.linear import Linear
from gfsvi.kernels.locally_periodic import LocallyPeriodic
from gfsvi.kernels.matern12 import Matern12
from gfsvi.kernels.matern32 import Matern32
from gfsvi.kernels.matern52 import Matern52
from gfsvi.kernels.one_of import OneOf
from gfsvi.kernels.periodic import Periodic
from gfsvi.kernels.rbf import RBF
from gfsvi.plain.combined_kernels import ProductKernel, RestrictedKernel, SumKernel
from gfsvi.plain.kernels import CORRELATIONS, PlainKernel, StationaryKernel
from gfsvi.plain.time_kernels import (
    ConstantKernel,
    IntegratedBrownianKernel,
    LinearKernel,
    LocallyPeriodicKernel,
    PeriodicKernel,
)

_STATIONARY = {RBF: "rbf", Matern12: "matern12", Matern32: "matern32", Matern52: "matern52"}


def kernel_in_numpy(kernel: AbstractKernel) -> PlainKernel | None:
    """The same kernel in NumPy; None if it has no such form, or its parameters are traced.

    Nor has a kernel with texts, whose distances or columns only a fit to a table knows.
    """
    if any(isinstance(leaf, Tracer | str) for leaf in jax.tree.leaves(kernel)):
        return None
    return _converted(kernel)


def _converted(kernel: AbstractKernel) -> PlainKernel | None:
    if isinstance(kernel, OneOf):
        kernel = kernel.kernel
    if isinstance(kernel, Sum):
        terms = [_converted(term) for term in kernel.terms]
        return None if None in terms else SumKernel(tuple(filter(None, terms)))
    if isinstance(kernel, Product):
        factors = [_converted(factor) for factor in kernel.factors]
        return None if None in factors else ProductKernel(tuple(filter(None, factors)))
    if isinstance(kernel, ActiveDimensions):
        inner = _converted(kernel.kernel)
        is_named = isinstance(kernel.dimensions[0], str)
        return None if inner is None or is_named else RestrictedKernel(inner, kernel.columns)
    return _of_features(kernel)


def _of_features(kernel: AbstractKernel) -> PlainKernel | None:
    """A kernel that is not made of others."""
    if isinstance(kernel, RBF | Matern12 | Matern32 | Matern52):
        correlation = CORRELATIONS[_STATIONARY[type(kernel)]]
        return StationaryKernel(correlation, _row(kernel.lengthscale), float(kernel.variance))
    if isinstance(kernel, Constant):
        return ConstantKernel(float(kernel.variance))
    if isinstance(kernel, Linear):
        return LinearKernel(_row(kernel.variance))
    if isinstance(kernel, IntegratedBrownian):
        return IntegratedBrownianKernel(_row(kernel.variance))
    if isinstance(kernel, Periodic):
        periods = _row(kernel.period)
        return PeriodicKernel(_row(kernel.lengthscale), float(kernel.variance), periods)
    if isinstance(kernel, LocallyPeriodic):
        inner = _row(kernel.periodic_lengthscale)
        distances = (_row(kernel.lengthscale), float(kernel.variance), _row(kernel.period))
        return LocallyPeriodicKernel(*distances, inner)
    return None


def _row(values: Any) -> np.ndarray:
    return np.reshape(np.asarray(values, np.float64), (1, -1))
