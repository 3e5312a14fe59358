"""The noise of a posterior, set by rows that its function has not seen."""

import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.likelihoods.base import has_noise
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.model import Model
from gfsvi.numerics.compilation import compile_now, compiled_once, filled
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, inverse_from_cholesky
from gfsvi.numerics.types import Points
from gfsvi.training.loop import compile_ahead, maximize
from gfsvi.training.settings import Training
from gfsvi.values import AbstractValues, Marginals

SHARES = (0.25, 0.5, 0.75, 1.0)
NUM_STEPS = 400
MAX_ROWS = 1000
"""Of more rows there are enough to validate by."""


def calibrated(
    posterior: Model,
    validation: Data,
    share: float | None,
    *,
    key: PRNGKeyArray,
    left_out: "LeftOut | None" = None,
) -> Model:
    """Move the noise a share of the way to what maximises these rows' expected log-likelihood.

    None for the share at which they are most probable. Rows that were `left_out` count like those
    of validation. What has no noise, or is to move no part of the way, stays as it is.
    """
    if share == 0 or not has_noise(posterior.likelihood):
        return posterior
    values = _marginals(posterior.function, jnp.asarray(validation.x))
    if left_out is not None:
        validation, values = left_out.added_to(validation, values)
    training = _training(validation)
    refitted, _ = maximize(
        _Calibration(values), posterior, validation, training, key=key, fixed=_all_but_the_noise
    )
    if share is None:
        y = jnp.asarray(validation.y)
        density = [_density(posterior, refitted, np.array(s), values, y) for s in SHARES]
        share = SHARES[int(np.argmax(np.array(density)))]
    return _blended(posterior, refitted, np.array(share))


class LeftOut(NamedTuple):
    """Training rows, and what the function is thought to be at each without its own target."""

    data: Data
    values: Marginals

    @classmethod
    def of(cls, prior: Model, data: Data) -> "LeftOut | None":
        """By the exact posterior of all other rows, in closed form; None where there is none."""
        is_exact = isinstance(prior.likelihood, (Normal, WarpedNormal))
        if not (is_exact and isinstance(prior.function, GaussianProcess) and len(data) <= MAX_ROWS):
            return None
        return cls(data, _left_out(prior, jax.tree.map(jnp.asarray, data)))

    def added_to(self, rows: Data, values: Any) -> tuple[Data, Marginals]:
        """These rows and others, for which the function is known too."""
        mean = jnp.concatenate([jnp.asarray(values.mean, jnp.float64), self.values.mean], axis=1)
        cov = jnp.concatenate([jnp.asarray(values.cov, jnp.float64), self.values.cov])
        both = (np.concatenate([a, b]) for a, b in ((rows.x, self.data.x), (rows.y, self.data.y)))
        return Data(*both), Marginals(mean, cov)


@compiled_once
def _left_out(prior: Model, data: Data) -> Marginals:
    """Rasmussen and Williams (2006), equations 5.10 to 5.12, less the noise."""
    targets = prior.likelihood.gaussian_targets(data.y, prior.function.outputs)
    values = prior.function.at(data.x)
    noise = jnp.broadcast_to(targets.variance, values.mean.shape)
    factor = cholesky(add_to_diagonal(values.cov, noise))
    precision = inverse_from_cholesky(factor)
    spread = jnp.diagonal(precision, axis1=-2, axis2=-1)
    pulled = (precision @ (targets.values - values.mean)[..., None])[..., 0]
    variance = jnp.maximum(1 / spread - noise, 0.0)
    cov = variance.T[:, :, None] * jnp.eye(len(variance))
    return Marginals(targets.values - pulled / spread, cov)


def compile_calibration(posterior: Model, validation: Data, *, key: PRNGKeyArray) -> None:
    """Compile what `calibrated` runs for such arguments; arrays of the posterior may be shapes."""
    if not has_noise(posterior.likelihood):
        return
    posterior, x = filled(posterior, key), jnp.asarray(validation.x)
    compile_now(_marginals, posterior.function, x)
    values = eqx.filter_eval_shape(_marginals, posterior.function, x)
    calibration = _Calibration(values)
    training = _training(validation)
    compile_ahead(calibration, posterior, validation, training, key=key, fixed=_all_but_the_noise)


def _training(validation: Data) -> Training:
    return Training(num_steps=NUM_STEPS, batch_size=len(validation), optimizer=_optimizer())


def settled(model: Model) -> list[Any]:
    """What was chosen with the prior: on another scale its length scales would mean nothing."""
    return [model.likelihood.warp] if isinstance(model.likelihood, WarpedNormal) else []


@functools.cache  # the same object every time, so that it is compiled once
def _optimizer() -> optax.GradientTransformation:
    """Adam, with gradients bounded.

    Noise that is far too small has gradients so large that Adam would not forget them in time.
    """
    return optax.chain(
        optax.clip(1.0), optax.adam(optax.cosine_decay_schedule(0.2, NUM_STEPS), b2=0.97)
    )


class _Calibration(eqx.Module):
    """The expected log-likelihood of rows at which the function's values are known."""

    values: AbstractValues

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        return jnp.sum(model.likelihood.expected_log_prob(batch.y, self.values, key=key)), {}


def _all_but_the_noise(model: Model) -> list[Any]:
    return [model.function, *settled(model)]


@compiled_once
def _marginals(function: AbstractRandomFunction, x: Points) -> AbstractValues:
    return function.marginals(x)


@compiled_once
def _density(
    first: Model, second: Model, share: np.ndarray, values: AbstractValues, y: Array
) -> Float[Array, ""]:
    likelihood = _between(first, second, share).likelihood
    return jnp.mean(likelihood.predict(values, key=jax.random.key(0)).log_prob(y))


@compiled_once
def _blended(first: Model, second: Model, share: np.ndarray) -> Model:
    return _between(first, second, share)


def _between(first: Model, second: Model, share: np.ndarray) -> Model:
    """Positive parameters geometrically, others arithmetically, on the way from first to second."""
    blended = jax.tree.map(
        lambda a, b: a + share * (b - a) if is_learnable(a) else a,
        to_free(first.likelihood),
        to_free(second.likelihood),
    )
    return Model(first.function, from_free(blended))
