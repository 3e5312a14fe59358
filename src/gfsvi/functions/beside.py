"""A random function that also sees what other functions say about a point."""

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction
from gfsvi.functions.means import AbstractMean
from gfsvi.functions.shifted import NumpyMean
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import AbstractValues, Independent


class Beside(AbstractRandomFunction):
    """A random function whose inputs are features and the values of known functions.

    Args:
        function: The random function, whose last features are the known functions.
        columns: The known functions, each of a single output.
    """

    function: AbstractRandomFunction
    columns: tuple[AbstractMean, ...]

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        return self.function.at(self._seen(x), key=key)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        return self.function.marginals(self._seen(x), key=key)

    def marginals_in_numpy(self, x: np.ndarray) -> Independent | None:
        """Mean and variance at each point; None if a function has no form in NumPy."""
        known = all(isinstance(column, NumpyMean) for column in self.columns)
        if not known or not isinstance(self.function, NumpyFunction):
            return None
        return self.function.marginals_in_numpy(beside(x, self.columns))

    def _seen(self, x: Points) -> Points:
        rows = jnp.asarray(x, jnp.float64)
        return jnp.concatenate([rows, *(column.at(rows).T for column in self.columns)], axis=1)


def beside(x: np.ndarray, columns: Sequence[AbstractMean]) -> np.ndarray:
    """Rows with what the columns say about them."""
    added = [column.in_numpy(x).T for column in columns if isinstance(column, NumpyMean)]
    return np.concatenate([np.asarray(x, np.float64), *added], axis=1)
