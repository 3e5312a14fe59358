"""Observations drawn along functions, and how those of different rows belong together."""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import draw_values
from gfsvi.model import Model
from gfsvi.numerics.precision import namespace
from gfsvi.predictives.base import user_layout

A = TypeVar("A", Array, np.ndarray)


@eqx.filter_jit
def drawn_observations(
    model: Model, x: np.ndarray, num_samples: int, key: PRNGKeyArray
) -> Float[Array, "sample row *target"]:
    """Draw one observation per row along each function drawn from the model."""
    function_key, noise_key = jax.random.split(key)
    f = jnp.asarray(draw_values(model.function, x, num_samples, key=function_key), jnp.float64)
    keys = jax.random.split(noise_key, num_samples)
    likelihood = model.likelihood.at(jnp.asarray(x))
    mean = jnp.asarray(model.function.marginals(x, key=function_key).mean, jnp.float64)
    drawn = jax.vmap(lambda values, k: likelihood.draw_along(values, mean, key=k))(f, keys)
    return user_layout(drawn)


def correlations(model: Model, x: np.ndarray) -> np.ndarray:
    """Correlations between rows of E[y | f], to first order in the function f.

    Without a compiled program where the function has a form in NumPy and each observation rises
    with its own output, so that correlations are those of the function.

    Returns:
        (response, row, row).
    """
    covariances = _in_numpy(model, x)
    if covariances is None:
        return np.asarray(_correlations(model, jnp.asarray(x)))
    return _scaled(covariances)


def _in_numpy(model: Model, x: np.ndarray) -> np.ndarray | None:
    """Covariances of the function, if observations are normal around it on some scale."""
    process = getattr(model.function, "in_numpy", None)
    if process is None or not model.likelihood.solved_as_normal:
        return None
    mean, covariances = process.joint(np.asarray(x, np.float64))
    return np.broadcast_to(covariances, (len(mean), *covariances.shape[1:]))


@eqx.filter_jit
def _correlations(model: Model, x: Float[Array, "row feature"]) -> Float[Array, "response row row"]:
    values = model.function.at(x)
    mean, likelihood = jnp.asarray(values.mean, jnp.float64), model.likelihood.at(x)
    outputs = jnp.eye(len(mean))

    def slope(output: Float[Array, " output"]) -> Float[Array, "response row"]:
        direction = output[:, None] * jnp.ones_like(mean)
        return jax.jvp(lambda f: likelihood.moments(f)[0], (mean,), (direction,))[1]

    slopes = jax.vmap(slope)(outputs)
    cov = jnp.broadcast_to(values.cov, (len(mean), *values.cov.shape[1:]))
    return _scaled(jnp.einsum("orp,opq,orq->rpq", slopes, cov, slopes))


def _scaled(covariances: A) -> A:
    """Covariances as correlations; rows that do not vary have none."""
    numpy = namespace(covariances)
    deviations = numpy.sqrt(numpy.maximum(numpy.diagonal(covariances, axis1=-2, axis2=-1), 0))
    deviations = numpy.where(deviations > 0, deviations, 1.0)
    return covariances / (deviations[:, :, None] * deviations[:, None, :])
