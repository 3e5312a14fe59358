"""What a model says about observations it has not seen.

Arrays have shape `(point,)`, or `(point, output)` for several outputs. A predictive separates the
scatter of observations around the function (aleatoric) from uncertainty about the function itself
(epistemic).
"""

import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, Protocol, Self, TypeVar, runtime_checkable

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Num, PRNGKeyArray

from gfsvi.numerics.precision import double, namespace, to_numpy
from gfsvi.numerics.printing import Printed, table_html, table_text
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.printing import printed

if TYPE_CHECKING:  # type checkers recognise class variables by this name only
    from typing import ClassVar as AbstractClassVar
else:
    from equinox import AbstractClassVar

FunctionValues = Float[Array, "output point"]
FunctionDraws = Float[Array, "sample output point"]
Responses = Float[Array, "response point"]
ResponseDraws = Num[Array, "sample response point"]
Observed = Float[Array, " point"] | Float[Array, "point output"]
P = ParamSpec("P")
R = TypeVar("R")


def returns_numpy(function: Callable[P, R]) -> Callable[P, R]:
    """Compute in double precision and return concrete results as NumPy arrays.

    With 64-bit types switched off, JAX would truncate its own float64 arrays at their next use.
    NumPy is as silent about overflow as JAX.
    """

    @double
    @functools.wraps(function)
    def computed(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(all="ignore"):
            return to_numpy(function(*args, **kwargs))

    return computed


class AbstractPredictive(eqx.Module):
    """A predictive distribution at each point."""

    @abstractmethod
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        """log E_q[p(y | f)]: the log predictive density of each observation."""

    @abstractmethod
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        """E_q[log p(y | f)]: what the paper reports as the log-likelihood."""

    @abstractmethod
    def head(self, num_points: int) -> Self:
        """The first `num_points` points."""

    @abstractmethod
    def columns(self) -> dict[str, np.ndarray]:
        """What is printed about each point, by name."""

    def __repr__(self) -> str:
        return printed(self, table_text)

    def _repr_html_(self) -> str:
        return printed(self, table_html)


class AbstractRealPredictive(AbstractPredictive):
    """A predictive distribution of numbers."""

    mean: eqx.AbstractVar[Observed]
    epistemic_variance: eqx.AbstractVar[Observed]
    aleatoric_variance: eqx.AbstractVar[Observed]

    @abstractmethod
    def quantile(self, q: float | Float[AnyArray, " level"]) -> Array:
        """The value that an observation does not exceed with probability `q`."""

    @abstractmethod
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        """Draw observations, independently at each point."""

    @abstractmethod
    def rescaled(self, scale: AnyArray | float, shift: AnyArray | float) -> Self:
        """The distribution of `scale * y + shift`."""

    @property
    @returns_numpy
    def variance(self) -> Observed:
        """Variance of an observation: epistemic plus aleatoric."""
        return self.epistemic_variance + self.aleatoric_variance

    @property
    @returns_numpy
    def std(self) -> Observed:
        """Standard deviation of an observation."""
        return namespace(self.mean).sqrt(self.epistemic_variance + self.aleatoric_variance)

    @property
    @returns_numpy
    def epistemic_std(self) -> Observed:
        """Standard deviation of the function, which more data would reduce."""
        return namespace(self.mean).sqrt(self.epistemic_variance)

    @property
    @returns_numpy
    def aleatoric_std(self) -> Observed:
        """Standard deviation of observations around the function, which no data reduces."""
        return namespace(self.mean).sqrt(self.aleatoric_variance)

    def interval(self, level: float = 0.95) -> tuple[Observed, Observed]:
        """Central interval that contains an observation with probability `level`."""
        if not 0 < level < 1:
            raise ValueError(f"an interval expects a level between 0 and 1; got {level}.")
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def columns(self) -> dict[str, np.ndarray]:
        """Mean, standard deviations and the ends of the 95 % interval of each point."""
        lower, upper = self.interval(0.95)
        known = {"mean": self.mean, "std": self.std, "epistemic_std": self.epistemic_std}
        known |= {"aleatoric_std": self.aleatoric_std, "lower": lower, "upper": upper}
        if np.ndim(self.mean) == 1:
            return {name: np.asarray(values) for name, values in known.items()}
        outputs = range(np.shape(self.mean)[1])
        return {
            f"{name}[{output}]": np.asarray(values)[:, output]
            for output in outputs
            for name, values in known.items()
        }


@runtime_checkable
class Cumulative(Protocol):
    """A predictive distribution of numbers whose distribution function has a formula."""

    def cdf(self, y: AnyArray) -> Float[Array, "..."]:
        """The probability that an observation does not exceed `y`, one per point and output."""
        ...


class AbstractScaledPredictive(AbstractRealPredictive):
    """A predictive distribution of `scale * y + shift`."""

    scale: eqx.AbstractVar[Float[Array, ""] | Float[Array, " response"]]
    shift: eqx.AbstractVar[Float[Array, ""] | Float[Array, " response"]]

    @returns_numpy
    def rescaled(self, scale: AnyArray | float, shift: AnyArray | float) -> Self:
        scale = namespace(self.mean, scale).asarray(scale, np.float64)
        return dataclasses.replace(
            self,
            mean=scale * self.mean + shift,
            epistemic_variance=scale**2 * self.epistemic_variance,
            aleatoric_variance=scale**2 * self.aleatoric_variance,
            scale=scale * self.scale,
            shift=scale * self.shift + shift,
        )

    def _first_moments(self, num_points: int) -> dict[str, Observed]:
        """The fields that hold moments, at the first points."""
        names = ("mean", "epistemic_variance", "aleatoric_variance")
        return {name: getattr(self, name)[:num_points] for name in names}


class AbstractConditional(Printed):
    """The distribution of observations where the function's values are known.

    `discrete` says that `log_prob` gives probabilities, which a change of units leaves alone,
    rather than densities.
    """

    discrete: AbstractClassVar[bool]

    @abstractmethod
    def log_prob(self, y: AnyArray, f: FunctionValues) -> Float[Array, " point"]:
        """log p(y | f) at each point."""

    @abstractmethod
    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        """Mean and variance of an observation given the function, on the observation's scale.

        Labels have one response per class: its probability p, and p (1 - p).
        """

    @abstractmethod
    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        """Draw observations given the function; labels are class numbers, one response."""


def user_layout(array: Float[Array, "*sample output point"]) -> Float[Array, "..."]:
    """From (output, point) inside the library to (point,) or (point, output) outside."""
    return array[..., 0, :] if array.shape[-2] == 1 else array.swapaxes(-1, -2)


def library_layout(y: AnyArray) -> Float[Array, "output point"]:
    """From observations (point,) or (point, output) to (output, point)."""
    columns = namespace(y).asarray(y)
    return columns[None, :] if columns.ndim == 1 else columns.T
