"""Expectations of a log-likelihood over the values of a random function."""

import functools
import statistics
from collections.abc import Callable
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray, UInt32

from gfsvi.numerics.linalg import plain_cholesky, solve_lower
from gfsvi.numerics.precision import namespace
from gfsvi.predictives.base import FunctionDraws, FunctionValues
from gfsvi.values import AbstractValues, Independent, Marginals, Samples

# Nodes span this many standard deviations on both sides of the mean.
_REACH = 7.0
_NUM_NODES = 201
# A bend farther from the mean than this has no weight that would show.
_MAX_OFFSET = 5.0
# Sobol points on a grid of 2^-20 are exact in single precision, too.
_BITS = 20
_FEW_OUTPUTS = 20


def expectation_by_quadrature(
    log_prob: Callable[[FunctionValues], FunctionValues],
    values: AbstractValues,
    *,
    centre: FunctionValues | float = 0.0,
    width: FunctionValues | float = np.inf,
) -> Float[Array, " point"]:
    """E[log_prob(f)], summed over outputs, where log_prob maps each output separately.

    A log_prob that bends around `f = centre` over a distance `width` much smaller than the
    standard deviation of f gets nodes that are as dense as needed there.
    """
    if isinstance(values, Samples):
        return mean_over_draws(lambda f: jnp.sum(log_prob(f), axis=0), values)
    mean, std = values.mean, _std(values)
    steps, weights = nodes(std, centre - mean, width)
    at_nodes = jax.vmap(log_prob)(mean + steps)
    return jnp.sum(weights * at_nodes, axis=(0, 1))


def nodes(
    std: FunctionValues, offset: FunctionValues, width: FunctionValues | float
) -> tuple[Float[Array, "node output point"], Float[Array, "node output point"]]:
    """Nodes relative to the mean, and their weights; `offset` leads from the mean to the bend.

    With offset + width sinh(t) for the node, a trapezoidal sum over t is spectrally accurate.
    """
    numpy = namespace(std, offset, width)
    bends = (width < std) & (numpy.abs(offset) < _MAX_OFFSET * std)
    offset, width = numpy.where(bends, offset, 0.0), numpy.where(bends, width, 4 * std)
    low, high = (numpy.arcsinh((end * std - offset) / width) for end in (-_REACH, _REACH))
    share = numpy.linspace(0, 1, _NUM_NODES, dtype=std.dtype)[:, None, None]
    t = low + share * (high - low)
    steps = offset + width * numpy.sinh(t)
    weights = numpy.exp(-numpy.square(steps / std) / 2) * numpy.cosh(t)
    return steps, weights / numpy.sum(weights, axis=0)


def expectation_by_sampling(
    log_prob: Callable[[FunctionValues], Float[Array, " point"]],
    values: AbstractValues,
    *,
    key: PRNGKeyArray,
    num_samples: int = 64,
) -> Float[Array, " point"]:
    """E[log_prob(f)] by quasi-random draws of the function's values, unbiased over keys."""
    if isinstance(values, Samples):
        return mean_over_draws(log_prob, values)
    noise = _shifted_sobol((num_samples + 1) // 2, len(values.mean), key)
    draws = _mirrored(values, noise.astype(values.mean.dtype))[:num_samples]
    return jnp.mean(jax.vmap(log_prob)(draws), axis=0)


def mean_over_draws(
    log_prob: Callable[[FunctionValues], Float[Array, " point"]], values: Samples
) -> Float[Array, " point"]:
    """E[log_prob(f)] where the function is known by equally likely draws."""
    return jnp.mean(jax.vmap(log_prob)(values.draws), axis=0)


def marginal_draws(
    values: AbstractValues, num_samples: int = 256, *, key: PRNGKeyArray
) -> FunctionDraws:
    """Equally likely values that represent the function at each point separately.

    A single Gaussian output needs no randomness: evenly spaced quantiles are more accurate.
    """
    if isinstance(values, Samples):
        return values.draws
    numpy, dtype = namespace(values.mean), values.mean.dtype
    if len(values.mean) > 1:
        shape = ((num_samples + 1) // 2, len(values.mean))
        noise = _standardized(numpy.asarray(jax.random.normal(key, shape, dtype)))
        return _mirrored(values, noise)[:num_samples]
    nodes = numpy.asarray(_quantiles(num_samples), dtype)
    return values.mean + nodes[:, None, None] * _std(values)


@functools.cache
def _quantiles(num_samples: int) -> Float[np.ndarray, " sample"]:
    """Evenly spaced quantiles of the standard normal distribution, of variance one."""
    shares = (np.arange(num_samples) + 0.5) / num_samples
    nodes = np.array([statistics.NormalDist().inv_cdf(share) for share in shares])
    return nodes / max(np.std(nodes), np.finfo(np.float64).tiny)


def _mirrored(values: AbstractValues, noise: Float[Array, "half output"]) -> FunctionDraws:
    """Draws by these standard normal numbers, and their mirror images, which fix the mean.

    All points share the numbers, so that no point depends on which others are asked about.
    """
    if isinstance(values, Marginals | Independent):
        draws = values.from_noise(noise)
    else:  # independent outputs: at each point alone, no Cholesky factor is needed
        draws = values.mean + noise[:, :, None] * _std(values)
    return namespace(draws).concatenate([draws, 2 * values.mean - draws])


def _standardized(noise: Float[Array, "sample output"]) -> Float[Array, "sample output"]:
    """The draws, given exactly unit covariance if they are enough for it.

    A prediction, which has one fixed set of draws, gains from it. Averages over keys would be
    biased: fourth moments come out too small.
    """
    num_samples, num_outputs = noise.shape
    if num_samples <= 2 * num_outputs:
        return noise
    if namespace(noise) is np:
        factor = np.linalg.cholesky(noise.T @ noise / num_samples)
        return cast(Array, np.linalg.solve(factor, noise.T).T)
    factor = plain_cholesky(noise.T @ noise / num_samples)
    return solve_lower(factor[None], noise.T[None])[0].T


def _shifted_sobol(
    num_samples: int, num_outputs: int, key: PRNGKeyArray
) -> Float[Array, "sample output"]:
    """Standard normal numbers that fill space evenly, each exactly distributed over keys."""
    shift = jax.random.bits(key, (num_outputs,), jnp.uint32) >> (32 - _BITS)
    cells = jnp.asarray(_sobol(num_samples, num_outputs)) ^ shift
    return norm.ppf((cells + 0.5) / 2**_BITS)


@functools.cache
def even_noise(num_samples: int, num_outputs: int) -> Float[np.ndarray, "sample output"]:
    """Standard normal numbers that fill space evenly, each with its mirror image.

    In many dimensions no few numbers do; there, each output has even numbers in random order.
    """
    from scipy.special import ndtri

    half, random = (num_samples + 1) // 2, np.random.default_rng(0)
    if num_outputs > _FEW_OUTPUTS:
        order = np.argsort(random.uniform(size=(half, num_outputs)), axis=0)
        noise = ndtri((order + 0.5) / half)
    else:
        shift = random.integers(2**_BITS, size=num_outputs, dtype=np.uint32)
        noise = ndtri(((_sobol(half, num_outputs) ^ shift) + 0.5) / 2**_BITS)
    return np.concatenate([noise, -noise])[:num_samples]


@functools.cache
def _sobol(num_samples: int, num_outputs: int) -> UInt32[np.ndarray, "sample output"]:
    from scipy.stats import qmc  # takes a second to import

    sequence = qmc.Sobol(num_outputs, scramble=False, bits=_BITS)
    points = sequence.random_base2((num_samples - 1).bit_length())[:num_samples]
    return (points * 2**_BITS).astype(np.uint32)


def _std(values: AbstractValues) -> FunctionValues:
    # Bounded away from zero, where the root has no derivative.
    variance, numpy = values.variance, namespace(values.variance)
    return numpy.sqrt(numpy.maximum(variance, numpy.finfo(variance.dtype).tiny))
