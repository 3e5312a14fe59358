"""New rows enter a closed-form posterior, or leave it again, without another fit.

The weights at which the network is linearised, the prior, the measurement points and the noise stay
as they are. The sums over rows that the posterior is made of then change by what the rows add, so
that rows learned one by one or all at once give the same posterior.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable, Iterator
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.beside import Beside, beside
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.mixed import Mixed
from gfsvi.functions.shifted import Shifted, mean_in_numpy
from gfsvi.inference.conjugate_fit import between, pseudo_targets
from gfsvi.inference.leave_one_out import gaussian_targets
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model, predictive_of
from gfsvi.numerics.batching import padded
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.precision import double, to_numpy
from gfsvi.numerics.types import Points
from gfsvi.plain.updates import Coefficients
from gfsvi.predictives.base import AbstractPredictive
from gfsvi.values import Independent

Updated = ConjugateNetwork | Shifted | Beside | Mixed
BLOCK = 1024
NUM_ROUNDS = 10


@double
def condition_on(model: Model, data: Data) -> Model[Updated, AbstractLikelihood]:
    """The posterior after more rows.

    Under a likelihood that is normal on some scale this is exact for the linearised network: rows
    learned one by one, in any order, or all at once give the same. Other likelihoods are replaced
    at the new rows by the Gaussian regression that has their expected slope and curvature; those
    of earlier rows stay.

    Args:
        model: A closed-form posterior, as `GFSVI` makes it, around a mean function or not, or a
            mixture of them, all of which learn the rows.
        data: The new rows, on the model's scale.
    """
    if isinstance(model.function, Mixed | Beside):
        return _of_parts(condition_on, model, data)
    model = closed_form(model)
    for block in _blocks(data):
        model = _learned(_Seen.of(model, block))
    return model


@double
def predicted_and_learned(
    model: Model, data: Data
) -> tuple[AbstractPredictive, Model[Updated, AbstractLikelihood]]:
    """What is predicted at rows, and the posterior after them, which a row is evaluated once for.

    Args:
        model: A posterior as `condition_on` takes it.
        data: The new rows, on the model's scale.
    """
    is_single = not isinstance(model.function, Mixed | Beside) and len(data) <= BLOCK
    if not is_single or _network(closed_form(model).function).in_numpy is None:
        return model.predict(np.asarray(data.x)), condition_on(model, data)
    seen = _Seen.of(model, data)
    with np.errstate(all="ignore"):  # as silent as JAX
        values = Independent(*seen.rows.moments(seen.before))
        predictive = predictive_of(seen.model.likelihood, values, key=jax.random.key(0))
    return to_numpy(predictive), _learned(seen)


@double
def forget(model: Model, data: Data) -> Model[Updated, AbstractLikelihood]:
    """The posterior as if it had never seen these rows: the inverse of `condition_on`.

    Args:
        model: A closed-form posterior that has learned from these rows.
        data: The rows, with the targets and weights that they had.
    """
    if isinstance(model.function, Mixed | Beside):
        return _of_parts(forget, model, data)
    model = closed_form(model)
    for block in _blocks(data):
        rows, before = _Rows.of(model.function, block), _coefficients(model.function)
        targets = gaussian_targets(model, block, *rows.moments(before))
        model = _with(model, before.without_rows(*rows.given(before, targets)))
    return model


def _of_parts(
    update: Callable[[Model, Data], Model],
    model: Model[Mixed | Beside, AbstractLikelihood],
    data: Data,
) -> Model[Mixed | Beside, AbstractLikelihood]:
    """A mixture, each of whose members is updated, or a function that sees more columns."""
    function, likelihood = model.function, model.likelihood
    if isinstance(function, Beside):
        seen = Data(beside(np.asarray(data.x), function.columns), data.y, data.weights)
        inner = update(Model(function.function, likelihood), seen).function
        return Model(dataclasses.replace(function, function=inner), likelihood)
    members = (update(Model(member, likelihood), data) for member in function.members)
    updated = tuple(member.function for member in members)
    return Model(dataclasses.replace(function, members=updated), likelihood)


def closed_form(
    model: Model,
) -> "Model[ConjugateNetwork | Shifted, AbstractLikelihood]":
    """The model, if its posterior is in closed form."""
    if not isinstance(_network(model.function), ConjugateNetwork):
        raise ValueError(
            "updating expects a posterior in closed form; got a "
            f"{type(model.function).__name__}. Fit with the method gfsvi, or fit again with all "
            "rows."
        )
    return model


class _Rows(NamedTuple):
    """Rows, seen by the coefficients of a posterior."""

    values: np.ndarray
    design: np.ndarray
    left: np.ndarray

    @classmethod
    def of(cls, function: ConjugateNetwork | Shifted, data: Data) -> "_Rows":
        x = np.asarray(data.x, np.float64)
        if isinstance(function, Shifted):
            rest = cls.of(_network(function), data)
            return rest._replace(values=rest.values + mean_in_numpy(function.mean, x))
        process = function.in_numpy
        if process is not None:
            return cls(*process.design(x))
        values, design, left = map(np.asarray, _design(function, jnp.asarray(padded(x))))
        return cls(values[:, : len(x)], design[:, : len(x)], left[: len(x)])

    def moments(self, coefficients: Coefficients) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of the function, (output, row)."""
        known = np.sum((self.design @ coefficients.root) ** 2, axis=-1)
        return self._mean(coefficients), known + self.left

    def given(
        self, coefficients: Coefficients, targets: GaussianTargets
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Design, residuals and variances of a regression to these targets."""
        residual = np.asarray(targets.values) - self._mean(coefficients)
        return self.design, residual, np.broadcast_to(targets.variance, residual.shape)

    def _mean(self, coefficients: Coefficients) -> np.ndarray:
        return self.values + np.einsum("opz,oz->op", self.design, coefficients.mean)


class _Seen(NamedTuple):
    """Rows that a posterior has not learned, and its likelihood at them."""

    model: Model
    likelihood: AbstractLikelihood
    data: Data
    rows: _Rows
    before: Coefficients

    @classmethod
    def of(cls, model: Model, data: Data) -> "_Seen":
        here = Model(model.function, model.likelihood.at(np.asarray(data.x, np.float64)))
        rows, before = _Rows.of(model.function, data), _coefficients(model.function)
        return cls(here, model.likelihood, data, rows, before)


def _learned(seen: _Seen) -> Model:
    """The posterior after the rows."""
    here, kept, data, rows, before = seen
    likelihood = here.likelihood
    targets = gaussian_targets(here, data, *rows.moments(before))
    after = before.with_rows(*rows.given(before, targets))
    for _ in range(0 if likelihood.solved_as_normal else NUM_ROUNDS):
        fresh = pseudo_targets(likelihood, data, *rows.moments(after))
        targets = between(targets, fresh, 0.5)
        after = before.with_rows(*rows.given(before, targets))
    return _with(Model(here.function, kept), after)


def _blocks(data: Data) -> Iterator[Data]:
    for start in range(0, len(data), BLOCK):
        yield data.take(np.arange(start, min(start + BLOCK, len(data))))


def _network(function: AbstractRandomFunction) -> ConjugateNetwork:
    """The network of a posterior, which may be around a mean function."""
    return cast(ConjugateNetwork, function.function if isinstance(function, Shifted) else function)


def _coefficients(function: ConjugateNetwork | Shifted) -> Coefficients:
    network = _network(function)
    return Coefficients(*(np.asarray(part, np.float64) for part in (network.shift, network.root)))


def _with(model: Model, coefficients: Coefficients) -> Model:
    function, (mean, root) = model.function, coefficients
    updated = dataclasses.replace(_network(function), shift=mean, root=root)
    if isinstance(function, Shifted):
        return Model(dataclasses.replace(function, function=updated), model.likelihood)
    return Model(updated, model.likelihood)


@jit_fast_compile
def _design(function: ConjugateNetwork, x: Points) -> tuple[Array, Array, Array]:
    return function.design(x)
