"""A model: a random function and a likelihood. Prior and posterior are the same class."""

from typing import Generic, Protocol, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.numerics.batching import padded
from gfsvi.numerics.precision import double, to_numpy
from gfsvi.numerics.types import AnyArray, Points
from gfsvi.predictives.base import AbstractPredictive
from gfsvi.values import AbstractValues

F = TypeVar("F", bound=AbstractRandomFunction, covariant=True)
L = TypeVar("L", bound=AbstractLikelihood, covariant=True)
R = TypeVar("R", bound=AbstractPredictive, covariant=True)


class _PredictingLikelihood(Protocol[R]):
    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> R: ...


class _PredictingModel(Protocol[R]):
    """A model seen by the predictive of its likelihood, so that `predict` has its type."""

    @property
    def likelihood(self) -> _PredictingLikelihood[R]: ...


class Model(eqx.Module, Generic[F, L]):
    """A belief about a function, and how observations scatter around it.

    `Model[GaussianProcess, Normal]` names the kinds of both; a plain `Model` leaves them open.
    """

    function: F
    likelihood: L

    @double
    def predict(self: _PredictingModel[R], x: Points, *, key: PRNGKeyArray | None = None) -> R:
        """Predictive distribution of an observation at each point of `x`.

        Only sampled predictives use `key`; the same key gives the same result.
        """
        rows = jnp.asarray(padded(np.asarray(x)))
        return cast(R, to_numpy(_predict(cast(Model, self), rows, _key(key))).head(len(x)))

    @double
    def expected_log_prob(
        self, x: Points, y: AnyArray, *, key: PRNGKeyArray | None = None
    ) -> Float[Array, " point"]:
        """E[log p(y | f(x))] at each point."""
        value_key, likelihood_key = jax.random.split(_key(key))
        values = self.function.marginals(x, key=value_key)
        return self.likelihood.expected_log_prob(y, values, key=likelihood_key)


@eqx.filter_jit
def _predict(model: Model, x: Points, key: PRNGKeyArray) -> AbstractPredictive:
    value_key, likelihood_key = jax.random.split(key)
    values = model.function.marginals(x, key=value_key)
    values = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), values)
    return model.likelihood.predict(values, key=likelihood_key)


def _key(key: PRNGKeyArray | None) -> PRNGKeyArray:
    return jax.random.key(0) if key is None else key
