"""How observations scatter around a function's values.

Function values have shape (output, point); observations y have one entry or row per point.
"""

import dataclasses
from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray, PyTree

from gfsvi.likelihoods.expectations import marginal_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import check_positive, is_learnable
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray, PerOutput, Points
from gfsvi.predictives.base import (
    AbstractConditional,
    AbstractPredictive,
    ResponseDraws,
    Responses,
    library_layout,
)
from gfsvi.predictives.base import FunctionValues as FunctionValues
from gfsvi.predictives.mixture import MixturePredictive
from gfsvi.values import AbstractValues

if TYPE_CHECKING:  # type checkers recognise class variables by this name only
    from typing import ClassVar as AbstractClassVar
else:
    from equinox import AbstractClassVar

PointLogProb = Float[Array, " point"]
NoiseStd = Float[Array, "#output"]
T = TypeVar("T")
_CHOSEN_WITH_PRIOR = "gfsvi_chosen_with_prior"


class AbstractLikelihood(AbstractConditional):
    """p(y | f), one observation per point, independent given the function.

    `conjugate` says that `gaussian_targets` is this likelihood rather than an approximation, so
    that the posterior under a Gaussian process has a closed form; `has_gaussian_targets` that
    there is one at all; `rescalable` that its parameters adapt to the scale of the observations,
    so that these can be standardised.
    """

    conjugate: AbstractClassVar[bool]
    has_gaussian_targets: AbstractClassVar[bool]
    rescalable: AbstractClassVar[bool]

    @abstractmethod
    def check(self, y: ArrayLike) -> None:
        """Raise if this likelihood cannot explain the observations."""

    def at(self, x: Points) -> Self:
        """The likelihood of observations at these inputs, which is this one unless it varies."""
        return self

    @abstractmethod
    def num_outputs(self, y: AnyArray) -> int:
        """How many function outputs these observations need."""

    @property
    @abstractmethod
    def noise_std(self) -> NoiseStd | None:
        """Standard deviation of the scatter on the function's scale; None if it has none."""

    @property
    def solved_as_normal(self) -> bool:
        """Whether the posterior is that under `gaussian_targets`: it is if they are exact."""
        return self.conjugate

    @property
    def fixed_by_prior(self) -> list[PyTree]:
        """The parts that were chosen together with the prior and stay fixed in later training."""
        fields = dataclasses.fields(self)
        return [getattr(self, f.name) for f in fields if f.metadata.get(_CHOSEN_WITH_PRIOR)]

    @abstractmethod
    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        """E[log p(y | f)] over the function's values at each point."""

    @abstractmethod
    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> AbstractPredictive:
        """The distribution of new observations."""

    def draw_along(
        self, f: FunctionValues, mean: FunctionValues, *, key: PRNGKeyArray
    ) -> Responses:
        """Draw one observation per point along a function that was drawn around its mean."""
        return self.draw(f, 1, key=key)[0]

    @abstractmethod
    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """Targets and noise variances of the closest Gaussian regression.

        It stands in for this likelihood when a prior is chosen by marginal likelihood.
        `num_outputs` gives the number of classes in compiled code, where labels have no values.
        """


def chosen_with_prior(default: T) -> T:
    """A field that is chosen together with the prior, listed in `fixed_by_prior`."""
    return eqx.field(default=default, metadata={_CHOSEN_WITH_PRIOR: True})


def has_noise(likelihood: AbstractLikelihood) -> bool:
    """Whether the scatter of observations has parameters that can be learned."""
    return any(map(is_learnable, jax.tree.leaves(likelihood)))


class AbstractRealLikelihood(AbstractLikelihood):
    """A likelihood of numbers that predicts a mixture over draws of the function."""

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> MixturePredictive:
        return MixturePredictive.of(self, marginal_draws(values, key=key))


class AbstractCountLikelihood(AbstractRealLikelihood):
    """A likelihood of counts, one output each: the logarithm of their mean."""

    discrete: ClassVar[bool] = True
    conjugate: ClassVar[bool] = False
    has_gaussian_targets: ClassVar[bool] = True
    rescalable: ClassVar[bool] = False

    def check(self, y: ArrayLike) -> None:
        counts = check_numbers(self, y)
        unusable = counts[(counts < 0) | (counts != np.round(counts))]
        if unusable.size:
            raise ValueError(
                f"{type(self).__name__} expects counts 0, 1, 2, ...; got {unusable[:5]}. "
                "Undo any scaling of y, or use Normal for other numbers."
            )

    def num_outputs(self, y: AnyArray) -> int:
        return len(library_layout(y))

    @property
    def noise_std(self) -> None:
        return None


class AbstractNoisyLikelihood(AbstractLikelihood):
    """A likelihood of numbers with normal noise, one for all outputs or one per output."""

    noise: eqx.AbstractVar[PerOutput]
    discrete: ClassVar[bool] = False
    has_gaussian_targets: ClassVar[bool] = True
    rescalable: ClassVar[bool] = True

    def __check_init__(self) -> None:
        check_positive(self, noise=self.noise)

    def check(self, y: ArrayLike) -> None:
        check_numbers(self, y)

    @property
    def noise_std(self) -> NoiseStd:
        return per_output(self.noise)[:, 0]


class AbstractLabelLikelihood(AbstractLikelihood):
    """A likelihood of class numbers."""

    discrete: ClassVar[bool] = True
    conjugate: ClassVar[bool] = False
    has_gaussian_targets: ClassVar[bool] = True
    rescalable: ClassVar[bool] = False

    @property
    def noise_std(self) -> None:
        return None


def per_output(parameter: PerOutput) -> Float[Array, "#output #point"]:
    """A parameter shared by all outputs, or one per output, as a column for (output, point).

    One for each output and point is left as it is.
    """
    numpy, shape = namespace(parameter), np.shape(parameter)
    return numpy.reshape(parameter, shape if len(shape) == 2 else (-1, 1))


def normal_draws(
    mean: Responses, std: Float[Array, "#response #point"], num_samples: int, *, key: PRNGKeyArray
) -> ResponseDraws:
    """Draw normal numbers of this mean and standard deviation."""
    return mean + std * jax.random.normal(key, (num_samples, *mean.shape), mean.dtype)


def check_numbers(owner: object, y: ArrayLike, *, single: bool = False) -> np.ndarray:
    """Raise unless these are finite numbers of a usable shape; return them as an array."""
    array, name = np.asarray(y), type(owner).__name__
    shapes = "(point,)" if single else "(point,) or (point, output)"
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} expects numbers as y; got entries of type {array.dtype}. "
            "Convert them to numbers first."
        )
    if array.ndim not in ((1,) if single else (1, 2)) or array.size == 0:
        raise ValueError(
            f"{name} expects y of shape {shapes} with at least one point; got {array.shape}. "
            "Reshape y."
        )
    unusable = int(np.sum(~np.isfinite(array)))
    if unusable:
        raise ValueError(
            f"{name} expects finite numbers as y; got {unusable} that are NaN or infinite. "
            "Remove these rows or fill them in."
        )
    return array
