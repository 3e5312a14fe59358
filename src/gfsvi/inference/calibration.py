"""Calibration: the noise of a posterior, set by held-out rows."""

import functools
from abc import abstractmethod
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.likelihoods.base import has_noise
from gfsvi.model import Model
from gfsvi.numerics.compilation import compile_now, filled, jit_fast_compile
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.types import Points
from gfsvi.training.loop import compile_ahead, maximize
from gfsvi.training.optimizers import Optax
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts
from gfsvi.values import AbstractValues, Independent

SHARES = (0.25, 0.5, 0.75, 1.0)
NUM_STEPS = 400


class LeaveOneOut(NamedTuple):
    """Training rows, and the function at each of them given all other rows."""

    data: Data
    values: Independent

    @classmethod
    def of(cls, posterior: Model, prior: Model, data: Data) -> "LeaveOneOut | None":
        """The rows left out of the posterior, or else of the prior; None if neither is possible."""
        values = leave_one_out(posterior, data)
        if values is None:
            values = leave_one_out(prior, data)
        return None if values is None else cls(data, values)

    def added_to(self, rows: Data, values: AbstractValues) -> tuple[Data, Independent]:
        """These rows concatenated with others, and the function's values at all of them."""
        mean = jnp.concatenate([jnp.asarray(values.mean, jnp.float64), self.values.mean], axis=1)
        variance = jnp.concatenate([values.variance.astype(jnp.float64), self.values.variance], 1)
        pairs = zip(_columns(rows), _columns(self.data), strict=True)
        x, y, weights = (np.concatenate(pair) for pair in pairs)
        return Data(x, y, weights), Independent(mean, variance)


def _columns(data: Data) -> tuple[np.ndarray, ...]:
    return tuple(map(np.asarray, (data.x, data.y, data.row_weights)))


class AbstractCalibration(eqx.Module):
    """How held-out rows set the noise of a posterior."""

    @abstractmethod
    def __call__(
        self, posterior: Model, validation: Data, *, key: PRNGKeyArray, prior: Model, data: Data
    ) -> Model:
        """Set the noise of a posterior that was fitted to `prior` and `data`."""

    @property
    @abstractmethod
    def compiles(self) -> bool:
        """Whether it can be compiled ahead of time."""


class NoCalibration(AbstractCalibration):
    """Keep the noise found by training."""

    def __call__(
        self, posterior: Model, validation: Data, *, key: PRNGKeyArray, prior: Model, data: Data
    ) -> Model:
        return posterior

    @property
    def compiles(self) -> bool:
        return False


class HeldOut(AbstractCalibration):
    """Move the noise to the maximum of the expected log-likelihood of held-out rows.

    Args:
        share: Fraction of the way to move.
        leave_one_out: Whether to add leave-one-out predictions of the training rows to the
            held-out rows, which may be few; for posteriors in closed form, and for up to a
            thousand rows under a Gaussian process.
    """

    share: float = eqx.field(static=True, default=1.0)
    leave_one_out: bool = eqx.field(static=True, default=False)

    def __call__(
        self, posterior: Model, validation: Data, *, key: PRNGKeyArray, prior: Model, data: Data
    ) -> Model:
        left_out = LeaveOneOut.of(posterior, prior, data) if self.leave_one_out else None
        return with_share(posterior, validation, self.share, key=key, left_out=left_out)

    @property
    def compiles(self) -> bool:
        return not self.leave_one_out


class MostProbable(AbstractCalibration):
    """Move the noise towards `HeldOut` by the share that makes the held-out rows most probable."""

    def __call__(
        self, posterior: Model, validation: Data, *, key: PRNGKeyArray, prior: Model, data: Data
    ) -> Model:
        if not has_noise(posterior.likelihood):
            return posterior
        rows, values, refitted = _refitted(posterior, validation, None, key)
        rows = jax.tree.map(jnp.asarray, rows)
        density = [_density(posterior, refitted, np.array(s), values, rows) for s in SHARES]
        share = SHARES[int(np.argmax(np.array(density)))]
        return _blended(posterior, refitted, np.array(share))

    @property
    def compiles(self) -> bool:
        return True


def with_share(
    posterior: Model,
    rows: Data,
    share: float,
    *,
    key: PRNGKeyArray,
    left_out: LeaveOneOut | None = None,
) -> Model:
    """Move the noise a share of the way to the best expected log-likelihood of these rows.

    A posterior without learnable noise is returned unchanged.
    """
    if not has_noise(posterior.likelihood):
        return posterior
    _, _, refitted = _refitted(posterior, rows, left_out, key)
    return _blended(posterior, refitted, np.array(share))


def _refitted(
    posterior: Model, rows: Data, left_out: LeaveOneOut | None, key: PRNGKeyArray
) -> tuple[Data, AbstractValues, Model]:
    values = _marginals(posterior.function, jnp.asarray(rows.x))
    if left_out is not None:
        rows, values = left_out.added_to(rows, values)
    training = _training(rows)
    found, _ = maximize(
        _Calibration(values), posterior, rows, training, key=key, fixed=_all_but_the_noise
    )
    return rows, values, found


def compile_calibration(posterior: Model, validation: Data, *, key: PRNGKeyArray) -> None:
    """Compile what a calibration runs for such arguments; arrays may be replaced by shapes."""
    if not has_noise(posterior.likelihood):
        return
    posterior, x = filled(posterior, key), jnp.asarray(validation.x)
    compile_now(_marginals, posterior.function, x)
    values = eqx.filter_eval_shape(_marginals, posterior.function, x)
    calibration = _Calibration(values)
    training = _training(validation)
    compile_ahead(calibration, posterior, validation, training, key=key, fixed=_all_but_the_noise)


def _training(rows: Data) -> Training:
    return Training(num_steps=NUM_STEPS, optimizer=Optax(_adam(), batch_size=len(rows)))


def fixed_by_prior(model: Model) -> list[PyTree]:
    """What was chosen with the prior: its length scales are meaningless on another scale."""
    return model.likelihood.fixed_by_prior


@functools.cache  # the same object every time, so that it is compiled once
def _adam() -> optax.GradientTransformation:
    """Adam with clipped gradients.

    Noise that is far too small has gradients so large that Adam takes too long to forget them.
    """
    return optax.chain(
        optax.clip(1.0), optax.adam(optax.cosine_decay_schedule(0.2, NUM_STEPS), b2=0.97)
    )


class _Calibration(eqx.Module):
    """The expected log-likelihood of rows with known function values."""

    values: AbstractValues

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        return batch.total(model.likelihood.expected_log_prob(batch.y, self.values, key=key)), {}


def _all_but_the_noise(model: Model) -> list[PyTree]:
    return [model.function, *fixed_by_prior(model)]


@jit_fast_compile
def _marginals(function: AbstractRandomFunction, x: Points) -> AbstractValues:
    return function.marginals(x)


@jit_fast_compile
def _density(
    first: Model, second: Model, share: np.ndarray, values: AbstractValues, rows: Data
) -> Float[Array, ""]:
    likelihood = _between(first, second, share).likelihood
    return rows.mean(likelihood.predict(values, key=jax.random.key(0)).log_prob(rows.y))


@jit_fast_compile
def _blended(first: Model, second: Model, share: np.ndarray) -> Model:
    return _between(first, second, share)


def _between(first: Model, second: Model, share: np.ndarray) -> Model:
    """Interpolate from first to second: positive parameters geometrically, others linearly."""
    blended = jax.tree.map(
        lambda a, b: a + share * (b - a) if is_learnable(a) else a,
        to_free(first.likelihood),
        to_free(second.likelihood),
    )
    return Model(first.function, from_free(blended))
