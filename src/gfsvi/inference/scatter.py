"""The parameters of a likelihood that make observations most probable around a known function."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.data import Data
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.numerics.batching import padded
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.types import AnyArray
from gfsvi.values import Independent

STEPS = (-1.0, -0.5, -0.2, -0.1, 0.0, 0.1, 0.2, 0.5, 1.0)
"""Changes that are tried, on a logarithmic scale for positive parameters."""


def most_expected(
    likelihood: AbstractLikelihood, data: Data, mean: np.ndarray, variance: np.ndarray
) -> AbstractLikelihood:
    """The likelihood one step closer to the largest expected log-likelihood of the data.

    Each learnable parameter moves by the best of a few steps, all other ones as they are.
    """
    # In few sizes, so that little is compiled; copies of the last row count nothing.
    weights = np.zeros(len(padded(mean.T)))
    weights[: len(data)] = np.asarray(data.row_weights)
    y, mean, variance = padded(np.asarray(data.y)), padded(mean.T).T, padded(variance.T).T
    values, treedef = jax.tree.flatten(to_free(likelihood))
    for number, value in enumerate(values):
        if is_learnable(value):
            moved = [jax.tree.unflatten(treedef, _moved(values, number, step)) for step in STEPS]
            scores = [_score(from_free(one), y, weights, mean, variance) for one in moved]
            values = _moved(values, number, STEPS[int(np.argmax(np.array(scores)))])
    return from_free(jax.tree.unflatten(treedef, values))


def _moved(values: list[Array], number: int, step: float) -> list[Array]:
    return [value + step if n == number else value for n, value in enumerate(values)]


@eqx.filter_jit
def _score(
    likelihood: AbstractLikelihood,
    y: AnyArray,
    weights: AnyArray,
    mean: AnyArray,
    variance: AnyArray,
) -> Float[Array, ""]:
    values = Independent(jnp.asarray(mean), jnp.asarray(variance))
    expected = likelihood.expected_log_prob(y, values, key=jax.random.key(0))
    return jnp.sum(weights * expected)
