"""How often functions of a prior change direction."""

import numpy as np

from gfsvi.plain.kernels import KernelInNumpy

_SHARE_OF_RANGE = 1 / 400
_DEPENDS_ON_STEP = 1.5
"""If halving the step shortens the distance this much, there is no such distance: it is rough."""


def turning_distance(
    kernel: KernelInNumpy, middle: np.ndarray, feature: int, width: float
) -> float | None:
    """The average distance between changes of direction along a feature.

    Successive differences of a Gaussian process with correlation r have different signs with
    probability arccos(r) / pi.

    Args:
        kernel: The prior's kernel.
        middle: The point around which it is looked at.
        feature: The feature to move along.
        width: The range of the feature.

    Returns:
        The distance in the units of the feature: 0 if the function turns at every scale, None if
        it practically never does within a hundred ranges.
    """
    step = _SHARE_OF_RANGE * width
    wide, narrow = (_distance(kernel, middle, feature, h) for h in (step, step / 2))
    if not np.isfinite(narrow) or narrow > 100 * width:
        return None
    return 0.0 if wide > _DEPENDS_ON_STEP * narrow else narrow


def _distance(kernel: KernelInNumpy, middle: np.ndarray, feature: int, step: float) -> float:
    points = np.repeat(middle[None], 3, axis=0)
    points[:, feature] += step * np.array([-1, 0, 1])
    cov = kernel.gram(points)
    difference = np.array([[-1, 1, 0], [0, -1, 1]])
    both = difference @ cov @ difference.T
    size = np.sqrt(both[0, 0] * both[1, 1])
    # Rounding leaves the correlation of very smooth functions at 1.
    if not size > 1e-13 * np.trace(cov):
        return np.inf
    angle = np.arccos(np.clip(both[0, 1] / size, -1, 1))
    return float(step * np.pi / angle) if angle > 1e-6 else np.inf
