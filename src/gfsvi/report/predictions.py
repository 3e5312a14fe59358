"""Read predictive distributions as NumPy arrays with one column per output."""

import numpy as np
from numpy.typing import ArrayLike

# Half the width of a 95 % interval, in standard deviations of a normal distribution.
HALF_WIDTH_95 = 1.96


def by_output(values: ArrayLike) -> np.ndarray:
    """Return values (row, output), also where there is a single output."""
    array = np.asarray(values, np.float64)
    return array.reshape(len(array), -1)
