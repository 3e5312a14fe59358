"""The resolution of observed numbers: no prediction can be more certain than they were recorded."""

import numpy as np

LARGEST_SHARE = 0.1
"""Of the standard deviation: numbers with few values, such as grades, may be known exactly."""


def rounding_noise(values: np.ndarray) -> float:
    """The standard deviation of rounding to the smallest gap between different values.

    A uniform error over a gap g has the variance g^2 / 12. Numbers that were not rounded have gaps
    so small that they do not matter.
    """
    different = np.unique(values)
    if len(different) < 2:
        return 0.0
    # Gaps that are due to the last digit of a float are not a resolution.
    gaps = np.diff(different)
    digit = 8 * np.finfo(np.float64).eps * np.max(np.abs(different))
    gaps = gaps[gaps > digit]
    smallest = float(np.min(gaps)) if len(gaps) else 0.0
    return min(smallest / 12**0.5, LARGEST_SHARE * float(np.std(values)))
