"""Random functions: priors and posteriors alike."""

from abc import abstractmethod

import equinox as eqx
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.values import AbstractValues

Points = Float[Array, "point *feature"]


class AbstractRandomFunction(eqx.Module):
    """A distribution over functions, known by its values at points."""

    @abstractmethod
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The function's values at all of `x` together."""

    @abstractmethod
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> AbstractValues:
        """The function's values at each of `x` alone, which is all a likelihood asks for."""
