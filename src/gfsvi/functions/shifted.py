"""A random function around another function that is known."""

from typing import Protocol, cast, runtime_checkable

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction
from gfsvi.functions.means import AbstractMean
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Independent, Marginals, as_gaussian


@runtime_checkable
class NumpyMean(Protocol):
    """A mean function that can be evaluated in NumPy, without compiling anything."""

    def in_numpy(self, x: np.ndarray) -> np.ndarray:
        """One row per output, or one row for all of them."""
        ...


class Shifted(AbstractRandomFunction):
    """A random function plus a fixed mean function.

    Args:
        function: The distribution of the difference.
        mean: The mean function, which is taken as known.
    """

    function: AbstractRandomFunction
    mean: AbstractMean

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        values = as_gaussian(self.function.at(x, key=key))
        return Gaussian(values.mean + self.mean.at(x), values.cov)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        values = cast(Marginals, self.function.marginals(x, key=key))
        return Marginals(values.mean + self.mean.at(x), values.cov)

    def marginals_in_numpy(self, x: np.ndarray) -> Independent | None:
        """Mean and variance at each point; None if function or mean have no form in NumPy."""
        if not (isinstance(self.function, NumpyFunction) and isinstance(self.mean, NumpyMean)):
            return None
        values = self.function.marginals_in_numpy(x)
        if values is None:
            return None
        return Independent(values.mean + self.mean.in_numpy(x), values.variance)


def mean_in_numpy(mean: AbstractMean, x: np.ndarray) -> np.ndarray:
    """A mean function as an array of NumPy, one row per output or one for all of them."""
    if isinstance(mean, NumpyMean):
        return mean.in_numpy(x)
    return np.array(double(mean.at)(x))
