"""How the correlation of a kernel falls along each feature."""

import functools
import operator
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from gfsvi.plain.composed import ProductKernel, RestrictedKernel, SumKernel
from gfsvi.plain.kernels import KernelInNumpy, StationaryKernel

PerFeature = Float[np.ndarray, "feature step"]


def correlations_along(
    kernel: KernelInNumpy, centre: Float[np.ndarray, " feature"], steps: np.ndarray
) -> PerFeature:
    """Correlations of the value at a centre with those at steps from it along each feature.

    Args:
        kernel: The kernel.
        centre: Where the correlations begin.
        steps: Distances (step, feature).
    """
    covariances, variances = _along(kernel, centre, steps)
    size = np.sqrt(kernel.diagonal(centre[None]) * variances)
    return covariances / np.where(size > 0, size, np.nan)


def _along(
    kernel: KernelInNumpy, centre: np.ndarray, steps: np.ndarray
) -> tuple[PerFeature, PerFeature]:
    """Covariances with the centre, and variances.

    Along a feature all others stay, so that a table of many columns needs no matrix over them.
    """
    if isinstance(kernel, StationaryKernel):
        scaled = steps.T / np.reshape(kernel.lengthscale, (-1, 1))
        found = kernel.variance * kernel.correlation.value(scaled**2)
        return found, np.full_like(found, kernel.variance)
    if isinstance(kernel, SumKernel):
        return _joined(operator.add, kernel.terms, centre, steps)
    if isinstance(kernel, ProductKernel):
        return _joined(operator.mul, kernel.factors, centre, steps)
    if isinstance(kernel, RestrictedKernel):
        return _along_some(kernel.kernel, list(kernel.columns), centre, steps)
    return _one_after_another(kernel, centre, steps)


def _joined(
    operation: Callable[[np.ndarray, np.ndarray], np.ndarray],
    kernels: Sequence[KernelInNumpy],
    centre: np.ndarray,
    steps: np.ndarray,
) -> tuple[PerFeature, PerFeature]:
    parts = [_along(kernel, centre, steps) for kernel in kernels]
    covariances, variances = zip(*parts, strict=True)
    return functools.reduce(operation, covariances), functools.reduce(operation, variances)


def _along_some(
    kernel: KernelInNumpy, columns: list[int], centre: np.ndarray, steps: np.ndarray
) -> tuple[PerFeature, PerFeature]:
    """Of a kernel of some features, which stays the same along all others."""
    own, shape = centre[columns], (len(centre), len(steps))
    covariances = np.full(shape, kernel.cross(own[None], own[None])[0, 0])
    variances = np.full(shape, kernel.diagonal(own[None])[0])
    covariances[columns], variances[columns] = _along(kernel, own, steps[:, columns])
    return covariances, variances


def _one_after_another(
    kernel: KernelInNumpy, centre: np.ndarray, steps: np.ndarray
) -> tuple[PerFeature, PerFeature]:
    covariances, variances = [], []
    for feature, along in enumerate(steps.T):
        rows = np.tile(centre, (len(along), 1))
        rows[:, feature] += along
        covariances.append(kernel.cross(centre[None], rows)[0])
        variances.append(kernel.diagonal(rows))
    return np.stack(covariances), np.stack(variances)
