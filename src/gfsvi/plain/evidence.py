"""The evidence of a Gaussian process, and its gradient."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import get_lapack_funcs

from gfsvi.plain.kernels import PlainKernel


class Slopes(NamedTuple):
    """Derivatives of the evidence by logarithms of parameters, and by the targets."""

    kernel: list[np.ndarray]
    noise_variance: np.ndarray
    targets: np.ndarray


def log_evidence(
    kernel: PlainKernel, x: np.ndarray, targets: np.ndarray, noise_variance: np.ndarray
) -> tuple[float, Slopes]:
    """log N(targets; 0, K + noise), summed over outputs, and its derivatives.

    Args:
        kernel: The kernel.
        x: Inputs (row, feature).
        targets: (output, row).
        noise_variance: (output, row); one factorisation serves outputs with the same noise.

    Returns:
        The evidence, and its derivatives by the logarithms of the kernel's parameters and of noise
        variances (output, row), and by the targets (output, row).
    """
    signal, pull = kernel.with_slopes(x)
    value, curvature = 0.0, np.zeros_like(signal)
    by_noise, by_targets = np.empty_like(targets), np.empty_like(targets)
    shared = len(noise_variance) == 1 or np.all(noise_variance == noise_variance[0])
    groups = [np.arange(len(targets))] if shared else [[o] for o in range(len(targets))]
    for group in groups:
        noise = noise_variance[group[0]]
        inverse, log_determinant = inverse_with_noise(signal, noise)
        pulled = targets[group] @ inverse
        value -= 0.5 * (np.sum(pulled * targets[group]) + len(group) * log_determinant)
        # dL/dK = (a a' - K^-1) / 2
        curvature += 0.5 * (pulled.T @ pulled - len(group) * inverse)
        by_noise[group] = 0.5 * (pulled**2 - np.diagonal(inverse)) * noise
        by_targets[group] = -pulled
    value -= 0.5 * targets.size * np.log(2 * np.pi)
    return value, Slopes(pull(curvature), by_noise, by_targets)


def inverse_with_noise(signal: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, float]:
    """The inverse of a covariance plus noise, and the logarithm of its determinant."""
    cov = signal.copy()
    cov[np.diag_indices_from(cov)] += noise
    potrf, potri = get_lapack_funcs(("potrf", "potri"), (cov,))
    factor, failed = potrf(cov, lower=True, clean=False, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("the covariance is not positive definite")
    log_determinant = 2 * float(np.sum(np.log(np.diagonal(factor))))
    inverse, _ = potri(factor, lower=True, overwrite_c=True)
    lower = np.tril(inverse, -1)
    return lower + lower.T + np.diag(np.diagonal(inverse)), log_determinant
