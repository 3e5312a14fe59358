"""Expected slope and curvature of a log-likelihood where the function is normal at each row.

E[d log p / df] and -E[d^2 log p / df^2], in NumPy for labels and counts, so that nothing is
compiled for the shape of a table, and otherwise by the theorems of Bonnet and Price, from
derivatives of the expected log-likelihood.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.data import Data
from gfsvi.likelihoods.base import AbstractLikelihood, per_output
from gfsvi.likelihoods.bernoulli import Bernoulli
from gfsvi.likelihoods.categorical import Categorical, log_softmax
from gfsvi.likelihoods.expectations import even_noise, nodes
from gfsvi.likelihoods.negative_binomial import NegativeBinomial
from gfsvi.likelihoods.poisson import Poisson
from gfsvi.numerics.batching import padded
from gfsvi.predictives.base import library_layout
from gfsvi.values import Independent

AtRows = Float[np.ndarray, "output row"]
Slopes = tuple[AtRows, AtRows]


@np.errstate(over="ignore")  # as silent as JAX, whatever the numbers
def expected_slopes(
    likelihood: AbstractLikelihood, data: Data, mean: AtRows, variance: AtRows
) -> Slopes:
    """Slope and curvature at each row, as often as its weight says."""
    y, weights = np.asarray(data.y), np.asarray(data.row_weights, np.float64)
    if isinstance(likelihood, Categorical):
        found = _of_classes(likelihood, y.astype(int), mean, variance)
    elif isinstance(likelihood, Bernoulli):
        found = _of_sigmoids(y[None], 1.0, 0.0, mean, variance)
    elif isinstance(likelihood, Poisson):
        rate = np.exp(mean + variance / 2)
        found = library_layout(y) - rate, rate
    elif isinstance(likelihood, NegativeBinomial):
        size = 1 / np.asarray(per_output(likelihood.dispersion), np.float64)
        counts = library_layout(y)
        found = _of_sigmoids(counts, counts + size, np.log(size), mean, variance)
    else:
        return _derived(likelihood, y, weights, mean, variance)
    return weights * found[0], weights * found[1]


def _of_classes(
    likelihood: Categorical, labels: np.ndarray, mean: AtRows, variance: AtRows
) -> Slopes:
    """Averages over as many draws as the likelihood takes, all rows by the same numbers."""
    rows, std = np.arange(len(labels)), np.sqrt(variance)
    slope, curvature = np.zeros_like(mean), np.zeros_like(mean)
    noise = even_noise(likelihood.num_samples, len(mean))
    for draw in noise:
        share = np.exp(log_softmax(mean + std * draw[:, None], axis=0)) / len(noise)
        slope -= share
        curvature += share - len(noise) * share**2
    slope[labels, rows] += 1
    return slope, curvature


def _of_sigmoids(
    first: AtRows, steepest: AtRows | float, bend: AtRows | float, mean: AtRows, variance: AtRows
) -> Slopes:
    """Of log p = first f - steepest log(1 + exp(f - bend)), by quadrature."""
    steps, weights = nodes(np.sqrt(np.maximum(variance, 1e-300)), bend - mean, 2.0)
    share = 0.5 * (1 + np.tanh((mean + steps - bend) / 2))
    slope = first - steepest * np.sum(weights * share, axis=0)
    return slope, steepest * np.sum(weights * share * (1 - share), axis=0)


def _derived(
    likelihood: AbstractLikelihood,
    y: np.ndarray,
    weights: np.ndarray,
    mean: AtRows,
    variance: AtRows,
) -> Slopes:
    moments = (padded(moment.T).T for moment in (mean, variance))
    found = _derivatives(likelihood, padded(y), padded(weights), *moments)
    slope, curvature = (np.asarray(part)[:, : len(y)] for part in found)
    return slope, curvature


@eqx.filter_jit
def _derivatives(
    likelihood: AbstractLikelihood, y: Array, weights: Array, mean: Array, variance: Array
) -> tuple[Array, Array]:
    """Rows do not affect each other, so that copies of the last one may be added."""

    def expected(mean: Array, variance: Array) -> Array:
        values = Independent(mean, variance)
        key = jax.random.key(0)
        return jnp.sum(weights * likelihood.expected_log_prob(y, values, key=key))

    slope, half = jax.grad(expected, argnums=(0, 1))(jnp.asarray(mean), jnp.asarray(variance))
    return slope, -2 * half
