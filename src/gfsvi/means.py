"""Mean functions of a Gaussian process."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.params import real

Points = Float[Array, "point *feature"]
Means = Float[Array, "#output point"]


class AbstractMean(eqx.Module):
    """The expected value of a random function at every point."""

    @abstractmethod
    def at(self, x: Points) -> Means:
        """One row for each output, or one for all of them."""


class Zero(AbstractMean):
    """Zero everywhere: what the paper uses."""

    def at(self, x: Points) -> Means:
        return jnp.zeros((1, len(x)))


class Constant(AbstractMean):
    """The same value everywhere, one for all outputs or one for each."""

    value: Float[Array, ""] | Float[Array, " output"] = real(0.0)

    def at(self, x: Points) -> Means:
        return jnp.broadcast_to(jnp.reshape(self.value, (-1, 1)), (jnp.size(self.value), len(x)))


class Linear(AbstractMean):
    """An affine function of the features."""

    slope: Float[Array, " feature"] | Float[Array, "output feature"] = real()
    intercept: Float[Array, ""] | Float[Array, " output"] = real(0.0)

    def at(self, x: Points) -> Means:
        rows = jnp.reshape(x, (len(x), -1))
        return jnp.atleast_2d(self.slope) @ rows.T + jnp.reshape(self.intercept, (-1, 1))


class Function(AbstractMean):
    """Any function from points to one value each, or to one row of outputs each."""

    function: Callable[[Points], Array] = eqx.field(static=True)

    def at(self, x: Points) -> Means:
        values = self.function(x)
        return values[None] if values.ndim == 1 else values.T
