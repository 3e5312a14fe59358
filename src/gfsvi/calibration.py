"""The noise of a posterior, set by rows that its function has not seen."""

import functools
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.compilation import compile_now, compiled_once, filled
from gfsvi.data import Data
from gfsvi.function import AbstractRandomFunction, Points
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.model import Model
from gfsvi.params import from_free, is_learnable, to_free
from gfsvi.training import Training, compile_ahead, maximize
from gfsvi.values import AbstractValues

SHARES = (0.25, 0.5, 0.75, 1.0)
NUM_STEPS = 400


def calibrated(
    posterior: Model, validation: Data, share: float | None, *, key: PRNGKeyArray
) -> Model:
    """Move the noise a share of the way to what maximises these rows' expected log-likelihood.

    None for the share at which they are most probable.
    """
    values = _marginals(posterior.function, jnp.asarray(validation.x))
    training = _training(validation)
    refitted, _ = maximize(
        _Calibration(values), posterior, validation, training, key=key, fixed=_all_but_the_noise
    )
    if share is None:
        y = jnp.asarray(validation.y)
        density = [_density(posterior, refitted, np.array(s), values, y) for s in SHARES]
        share = SHARES[int(np.argmax(np.array(density)))]
    return _blended(posterior, refitted, np.array(share))


def compile_calibration(posterior: Model, validation: Data, *, key: PRNGKeyArray) -> None:
    """Compile what `calibrated` runs for such arguments; arrays of the posterior may be shapes."""
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
