"""Observations drawn along functions, and how those of different rows belong together."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import draw_values
from gfsvi.model import Model
from gfsvi.predictives.base import user_layout


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


@eqx.filter_jit
def correlations(model: Model, x: Float[Array, "row feature"]) -> Float[Array, "response row row"]:
    """Correlations between rows of E[y | f], to first order in the function f."""
    values = model.function.at(x)
    mean, likelihood = jnp.asarray(values.mean, jnp.float64), model.likelihood.at(x)
    outputs = jnp.eye(len(mean))

    def slope(output: Float[Array, " output"]) -> Float[Array, "response row"]:
        direction = output[:, None] * jnp.ones_like(mean)
        return jax.jvp(lambda f: likelihood.moments(f)[0], (mean,), (direction,))[1]

    slopes = jax.vmap(slope)(outputs)
    cov = jnp.broadcast_to(values.cov, (len(mean), *values.cov.shape[1:]))
    of_means = jnp.einsum("orp,opq,orq->rpq", slopes, cov, slopes)
    deviations = jnp.sqrt(jnp.diagonal(of_means, axis1=-2, axis2=-1))
    deviations = jnp.where(deviations > 0, deviations, 1.0)
    return of_means / (deviations[:, :, None] * deviations[:, None, :])
