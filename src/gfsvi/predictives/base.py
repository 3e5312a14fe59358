"""What a model says about observations it has not seen.

Arrays have one entry a point, `(point,)`, or one row a point, `(point, output)`, where there are
several outputs. A predictive knows the scatter of observations around the function (aleatoric)
and what is not known about the function itself (epistemic).
"""

import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, ParamSpec, Self, TypeVar

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.precision import double, to_numpy

FunctionValues = Float[Array, "output point"]
FunctionDraws = Float[Array, "sample output point"]
Responses = Float[Array, "response point"]
Observed = Float[Array, " point"] | Float[Array, "point output"]
P = ParamSpec("P")
R = TypeVar("R")


def handed_out(function: Callable[P, R]) -> Callable[P, R]:
    """Compute in double precision and hand concrete results out as NumPy.

    Where 64-bit types are off, JAX would cut its own float64 arrays down in the user's next line.
    """

    @double
    @functools.wraps(function)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        return to_numpy(function(*args, **kwargs))

    return computed


class AbstractPredictive(eqx.Module):
    """A predictive distribution at each point."""

    @abstractmethod
    def log_prob(self, y: Array) -> Float[Array, " point"]:
        """log E_q[p(y | f)]: the log predictive density of each observation."""

    @abstractmethod
    def expected_log_prob(self, y: Array) -> Float[Array, " point"]:
        """E_q[log p(y | f)]: what the paper reports as log-likelihood."""

    @abstractmethod
    def head(self, num_points: int) -> Self:
        """The first points alone."""


class AbstractRealPredictive(AbstractPredictive):
    """A predictive distribution of numbers."""

    mean: eqx.AbstractVar[Observed]
    epistemic_variance: eqx.AbstractVar[Observed]
    aleatoric_variance: eqx.AbstractVar[Observed]

    @abstractmethod
    def quantile(self, q: float | Float[Array, " level"]) -> Array:
        """The value that an observation stays below with probability `q`."""

    @abstractmethod
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        """Observations drawn at each point on its own."""

    @abstractmethod
    def rescaled(self, scale: Array | float, shift: Array | float) -> Self:
        """The distribution of `scale * y + shift`."""

    @property
    @handed_out
    def variance(self) -> Observed:
        """Variance of an observation: epistemic plus aleatoric."""
        return self.epistemic_variance + self.aleatoric_variance

    @property
    @handed_out
    def std(self) -> Observed:
        """Standard deviation of an observation."""
        return jnp.sqrt(self.epistemic_variance + self.aleatoric_variance)

    @property
    @handed_out
    def epistemic_std(self) -> Observed:
        """Standard deviation of the function: what more data could remove."""
        return jnp.sqrt(self.epistemic_variance)

    @property
    @handed_out
    def aleatoric_std(self) -> Observed:
        """Standard deviation of observations around the function: what no data removes."""
        return jnp.sqrt(self.aleatoric_variance)

    def interval(self, level: float = 0.95) -> tuple[Observed, Observed]:
        """Central interval that holds an observation with probability `level`."""
        if not 0 < level < 1:
            raise ValueError(f"an interval expects a level between 0 and 1; got {level}.")
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


class AbstractConditional(eqx.Module):
    """How observed numbers scatter where the function's values are known.

    A `discrete` one gives probabilities, not densities: a change of units leaves them alone.
    """

    discrete: ClassVar[bool]

    @abstractmethod
    def log_prob(self, y: Array, f: FunctionValues) -> Float[Array, " point"]:
        """log p(y | f) at each point."""

    @abstractmethod
    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        """Mean and variance of an observation given the function."""

    @abstractmethod
    def draw(
        self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray
    ) -> Float[Array, "sample response point"]:
        """Draw observations given the function."""


def user_layout(array: Float[Array, "*sample output point"]) -> Float[Array, "..."]:
    """From (output, point) inside the library to (point,) or (point, output) outside."""
    return array[..., 0, :] if array.shape[-2] == 1 else jnp.swapaxes(array, -1, -2)


def library_layout(y: Array) -> Float[Array, "output point"]:
    """From observations (point,) or (point, output) to (output, point)."""
    y = jnp.asarray(y)
    return y[None, :] if y.ndim == 1 else y.T
