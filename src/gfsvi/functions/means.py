"""Mean functions of a Gaussian process."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.numerics.constraints import real
from gfsvi.numerics.printing import Printed
from gfsvi.numerics.types import Points

Means = Float[Array, "#output point"]


class AbstractMean(Printed):
    """The expected value of a random function at every point."""

    @abstractmethod
    def at(self, x: Points) -> Means:
        """One row per output, or one row for all of them."""


class Zero(AbstractMean):
    """Zero everywhere, as in the paper."""

    def at(self, x: Points) -> Means:
        return jnp.zeros((1, len(x)))


class Constant(AbstractMean):
    """The same value everywhere: one for all outputs, or one per output."""

    value: Float[Array, ""] | Float[Array, " output"] = real(0.0)

    def at(self, x: Points) -> Means:
        return jnp.broadcast_to(jnp.reshape(self.value, (-1, 1)), (jnp.size(self.value), len(x)))


class Linear(AbstractMean):
    """An affine function of the features."""

    slope: Float[Array, " feature"] | Float[Array, "output feature"] = real()
    intercept: Float[Array, ""] | Float[Array, " output"] = real(0.0)

    def at(self, x: Points) -> Means:
        rows = jnp.reshape(x, (len(x), math.prod(x.shape[1:])))
        slope = jnp.atleast_2d(self.slope)
        if slope.shape[1] != rows.shape[1]:
            raise ValueError(
                f"Linear expects one slope per feature; got {slope.shape[1]} for points with "
                f"{rows.shape[1]} features. Pass {rows.shape[1]} slopes."
            )
        return slope @ rows.T + jnp.reshape(self.intercept, (-1, 1))


class Function(AbstractMean):
    """A jax.numpy function from points to one value, or one row of outputs, per point."""

    function: Callable[[Points], Array] = eqx.field(static=True)

    def at(self, x: Points) -> Means:
        values = jnp.asarray(self.function(jnp.asarray(x)))
        if values.ndim not in (1, 2) or len(values) != len(x):
            raise ValueError(
                f"a mean function must return one value or one row of outputs per point; got shape "
                f"{values.shape} for {len(x)} points. Return (point,) or (point, output)."
            )
        return values[None] if values.ndim == 1 else values.T


def as_mean(mean: Any) -> AbstractMean:
    """Convert a number or a function of points to a mean function."""
    if isinstance(mean, AbstractMean):
        return mean
    is_number = isinstance(mean, int | float | np.generic | np.ndarray | jax.Array)
    is_function = callable(mean) and not isinstance(mean, type)
    if is_number or is_function:
        return Constant(cast(Array, mean)) if is_number else Function(cast(Any, mean))
    raise TypeError(
        f"expected a mean function: a number, a function of points or a member of "
        f"gfsvi.functions.means; got {mean!r}. For example: mean=lambda x: 2 * x[:, 0]."
    )
