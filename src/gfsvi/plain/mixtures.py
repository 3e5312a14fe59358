"""Moments of mixtures."""

import numpy as np


def mixture_moments(
    means: np.ndarray, variances: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances (output, row) of a mixture, by the law of total variance.

    Args:
        means: Those of the members, (member, output, row).
        variances: Their variances.
        weights: How probable each member is.
    """
    mean = np.einsum("k,kop->op", weights, means)
    return mean, np.einsum("k,kop->op", weights, variances + (means - mean) ** 2)
