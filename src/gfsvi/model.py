"""A model: a random function and a likelihood. Prior and posterior are the same class."""

from typing import Generic, Protocol, TypeVar, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction
from gfsvi.likelihoods.base import (
    AbstractLabelLikelihood,
    AbstractLikelihood,
    AbstractNoisyLikelihood,
)
from gfsvi.numerics.batching import padded
from gfsvi.numerics.precision import double, to_numpy
from gfsvi.numerics.printing import Printed
from gfsvi.numerics.types import AnyArray, Points
from gfsvi.predictives.base import AbstractPredictive
from gfsvi.values import AbstractValues, Independent

F = TypeVar("F", bound=AbstractRandomFunction, covariant=True)
L = TypeVar("L", bound=AbstractLikelihood, covariant=True)
R = TypeVar("R", bound=AbstractPredictive, covariant=True)


class _PredictingLikelihood(Protocol[R]):
    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> R: ...


class _PredictingModel(Protocol[R]):
    """A model seen by the predictive of its likelihood, so that `predict` has its type."""

    @property
    def likelihood(self) -> _PredictingLikelihood[R]: ...


class Model(Printed, Generic[F, L]):
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
        model, rows = cast(Model, self), np.asarray(x)
        values = None
        if isinstance(model.function, NumpyFunction):
            with np.errstate(all="ignore"):  # as silent as JAX
                values = model.function.marginals_in_numpy(rows)
        if values is None:
            predictive = _predict(model, jnp.asarray(padded(rows)), _key(key))
        else:
            predictive = predictive_of(model.likelihood.at(rows), values, key=_key(key))
        return cast(R, to_numpy(predictive).head(len(x)))

    def traced_prediction(self: _PredictingModel[R], x: Points) -> R:
        """What `predict` computes, for transformations of JAX such as `jax.eval_shape`."""
        return cast(R, _predict(cast(Model, self), x, _key(None)))

    @double
    def expected_log_prob(
        self, x: Points, y: AnyArray, *, key: PRNGKeyArray | None = None
    ) -> Float[Array, " point"]:
        """E[log p(y | f(x))] at each point."""
        value_key, likelihood_key = jax.random.split(_key(key))
        values = self.function.marginals(x, key=value_key)
        return self.likelihood.at(x).expected_log_prob(y, values, key=likelihood_key)


@eqx.filter_jit
def _predict(model: Model, x: Points, key: PRNGKeyArray) -> AbstractPredictive:
    value_key, _ = jax.random.split(key)
    values = model.function.marginals(x, key=value_key)
    values = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), values)
    return _predict_given(model.likelihood.at(x), values, key)


def predictive_of(
    likelihood: AbstractLikelihood, values: Independent, *, key: PRNGKeyArray
) -> AbstractPredictive:
    """The predictive given values in NumPy; compiled unless its formulas are simple."""
    if isinstance(likelihood, AbstractNoisyLikelihood | AbstractLabelLikelihood):
        with np.errstate(all="ignore"):  # as silent as JAX
            return likelihood.predict(values, key=key)
    num_points = values.mean.shape[1]
    # Few sizes, so that little is compiled.
    mean, variance = (padded(np.asarray(m).T).T for m in (values.mean, values.variance))
    values = Independent(cast(Array, mean), cast(Array, variance))
    return to_numpy(_predict_given(likelihood, values, key)).head(num_points)


@eqx.filter_jit
def _predict_given(
    likelihood: AbstractLikelihood, values: AbstractValues, key: PRNGKeyArray
) -> AbstractPredictive:
    return likelihood.predict(values, key=jax.random.split(key)[1])


def _key(key: PRNGKeyArray | None) -> PRNGKeyArray:
    return jax.random.key(0) if key is None else key
