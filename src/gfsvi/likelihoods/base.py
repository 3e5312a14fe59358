"""How observations scatter around a function's values.

Function values have the layout (output, point); observations y have one entry or row a point.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.likelihoods.expectations import marginal_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.constraints import is_learnable
from gfsvi.predictives.base import AbstractConditional, AbstractPredictive
from gfsvi.predictives.base import FunctionValues as FunctionValues
from gfsvi.predictives.mixture import MixturePredictive
from gfsvi.values import AbstractValues

PointLogProb = Float[Array, " point"]


class AbstractLikelihood(eqx.Module):
    """p(y | f), one observation a point, independent given the function."""

    @abstractmethod
    def check(self, y: Any) -> None:
        """Refuse, in words, observations that this likelihood cannot explain."""

    @abstractmethod
    def num_outputs(self, y: Array) -> int:
        """How many function outputs these observations need."""

    @abstractmethod
    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        """log p(y | f) at each point."""

    @abstractmethod
    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        """E[log p(y | f)] over the values of the function at each point."""

    @abstractmethod
    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> AbstractPredictive:
        """The distribution of new observations."""

    @abstractmethod
    def gaussian_targets(self, y: Array, num_outputs: int | None = None) -> GaussianTargets:
        """Targets and noise variances of the Gaussian regression that stands for this likelihood.

        Choosing a prior by marginal likelihood needs a Gaussian problem; this names the closest.
        Where labels cannot be counted, in compiled code, `num_outputs` says how many there are.
        """


def has_noise(likelihood: AbstractLikelihood) -> bool:
    """Whether there is something about the scatter of observations to be learned."""
    return any(map(is_learnable, jax.tree.leaves(likelihood)))


class AbstractRealLikelihood(AbstractLikelihood, AbstractConditional):
    """A likelihood of numbers, predicted as a mixture over draws of the function."""

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> MixturePredictive:
        return MixturePredictive.of(self, marginal_draws(values, key=key))


def per_output(parameter: Float[Array, ""] | Float[Array, " output"]) -> Float[Array, "#output 1"]:
    """A parameter for all outputs, or one for each, beside arrays (output, point)."""
    return jnp.reshape(jnp.asarray(parameter), (-1, 1))


def check_numbers(owner: object, y: Any, *, single: bool = False) -> np.ndarray:
    """Refuse observations that are not finite numbers of a usable shape; return the others."""
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
