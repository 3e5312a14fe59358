"""How observations scatter around a function's values.

Function values have the layout (output, point); observations y have one entry or row a point.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.linalg import plain_cholesky, solve_lower
from gfsvi.params import is_learnable
from gfsvi.predictive import AbstractConditional, AbstractPredictive, FunctionDraws
from gfsvi.predictive import FunctionValues as FunctionValues
from gfsvi.predictives.mixture import MixturePredictive
from gfsvi.values import AbstractValues, Marginals, Samples

PointLogProb = Float[Array, " point"]


class GaussianTargets(NamedTuple):
    """The Gaussian regression that stands for a likelihood when a prior is chosen."""

    values: FunctionValues
    variance: FunctionValues
    # log of the derivative of the targets by the observations, summed over all of them
    log_slope: Float[Array, ""] | float = 0.0


class AbstractLikelihood(eqx.Module):
    """p(y | f), one observation a point, independent given the function."""

    @abstractmethod
    def check(self, y: Any) -> None:
        """Refuse, in words, observations that this likelihood cannot explain."""

    @abstractmethod
    def num_outputs(self, y: Array) -> int:
        """How many function outputs these observations need."""

    @abstractmethod
    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        """log p(y | f) at each point."""

    @abstractmethod
    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        """E[log p(y | f)] over the values of the function at each point."""

    @abstractmethod
    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> AbstractPredictive:
        """The distribution of new observations."""

    @abstractmethod
    def gaussian_targets(self, y: Array, num_outputs: int | None = None) -> GaussianTargets:
        """Targets and noise variances of the Gaussian regression that stands for this likelihood.

        Choosing a prior by marginal likelihood needs a Gaussian problem; this names the closest.
        Where labels cannot be counted, in compiled code, `num_outputs` says how many there are.
        """


def has_noise(likelihood: AbstractLikelihood) -> bool:
    """Whether there is something about the scatter of observations to be learned."""
    return any(map(is_learnable, jax.tree.leaves(likelihood)))


class AbstractRealLikelihood(AbstractLikelihood, AbstractConditional):
    """A likelihood of numbers, predicted as a mixture over draws of the function."""

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> MixturePredictive:
        return MixturePredictive.of(self, marginal_draws(values, key=key))


def expectation_by_quadrature(
    log_prob: Callable[[FunctionValues], Array], values: AbstractValues, num_nodes: int = 100
) -> Array:
    """E[log_prob(f)] where each point's log_prob is a sum over outputs, by a sum over nodes.

    Even nodes are as exact as Gauss-Hermite's for smooth functions and denser where f is likely,
    which a log_prob much narrower than the distribution of f needs.
    """
    if isinstance(values, Samples):
        return mean_over_draws(log_prob, values)
    nodes = np.linspace(-7, 7, num_nodes)
    weights = np.exp(-(nodes**2) / 2)
    std = _std(values)
    at_nodes = jax.vmap(lambda node: log_prob(values.mean + node * std))(
        jnp.asarray(nodes, std.dtype)
    )
    return jnp.tensordot(jnp.asarray(weights / weights.sum(), at_nodes.dtype), at_nodes, axes=1)


def expectation_by_sampling(
    log_prob: Callable[[FunctionValues], Array],
    values: AbstractValues,
    *,
    key: PRNGKeyArray,
    num_samples: int = 16,
) -> Array:
    """E[log_prob(f)] by draws of the function's values, outputs coupled as they are."""
    if isinstance(values, Samples):
        return mean_over_draws(log_prob, values)
    draws = _antithetic_draws(values, num_samples, key)
    return jnp.mean(jax.vmap(log_prob)(draws), axis=0)


def mean_over_draws(log_prob: Callable[[FunctionValues], Array], values: Samples) -> Array:
    """E[log_prob(f)] where the function is known by equally likely draws."""
    return jnp.mean(jax.vmap(log_prob)(values.draws), axis=0)


def marginal_draws(
    values: AbstractValues, num_samples: int = 256, *, key: PRNGKeyArray
) -> FunctionDraws:
    """Equally likely values that stand for the function at each point on its own.

    One Gaussian output needs no randomness: evenly spread quantiles are far closer to it.
    """
    if isinstance(values, Samples):
        return values.draws
    if len(values.mean) > 1:
        return _antithetic_draws(values, num_samples, key)
    nodes = norm.ppf((jnp.arange(num_samples, dtype=values.mean.dtype) + 0.5) / num_samples)
    nodes = nodes / jnp.maximum(jnp.std(nodes), jnp.finfo(nodes.dtype).tiny)
    return values.mean + nodes[:, None, None] * _std(values)


def _antithetic_draws(values: AbstractValues, num_samples: int, key: PRNGKeyArray) -> FunctionDraws:
    half = (num_samples + 1) // 2
    # The same numbers at every point, so that no point depends on which others are asked about.
    noise = _standardized(jax.random.normal(key, (half, len(values.mean)), values.mean.dtype))
    if isinstance(values, Marginals):
        draws = values.moved_alike(noise)
    else:  # independent outputs: at each point alone, no Cholesky factor is needed
        draws = values.mean + noise[:, :, None] * _std(values)
    # A Gaussian is symmetric: the mirrored draws are as likely and make the mean exact.
    return jnp.concatenate([draws, 2 * values.mean - draws])[:num_samples]


def _standardized(noise: Float[Array, "sample output"]) -> Float[Array, "sample output"]:
    """The draws, made to have the covariance that they are drawn with, if they are enough."""
    num_samples, num_outputs = noise.shape
    if num_samples <= 2 * num_outputs:
        return noise
    factor = plain_cholesky(noise.T @ noise / num_samples)
    return solve_lower(factor[None], noise.T[None])[0].T


def _std(values: AbstractValues) -> FunctionValues:
    # Bounded away from zero, where the root has no derivative.
    variance = values.variance
    return jnp.sqrt(jnp.maximum(variance, jnp.finfo(variance.dtype).tiny))


def per_output(parameter: Float[Array, ""] | Float[Array, " output"]) -> Float[Array, "#output 1"]:
    """A parameter for all outputs, or one for each, beside arrays (output, point)."""
    return jnp.reshape(jnp.asarray(parameter), (-1, 1))


def dirichlet_targets(
    one_hot: Float[Array, "class point"], pseudo_count: float
) -> tuple[Float[Array, "class point"], Float[Array, "class point"]]:
    """Labels as Gaussian targets and noise variances of the log of a Dirichlet (Milios 2018)."""
    # a = y + pseudo_count, s2 = log(1 + 1/a), t = log(a) - s2/2
    concentration = one_hot + pseudo_count
    variance = jnp.log1p(1 / concentration)
    targets = jnp.log(concentration) - variance / 2
    # A zero-mean prior suits centred targets: t - log pi - mean(t - log pi), pi the frequencies.
    frequency = jnp.mean(one_hot, axis=1, keepdims=True)
    centred = targets - jnp.log(jnp.maximum(frequency, 0.5 / one_hot.shape[1]))
    return centred - jnp.mean(centred), variance


def check_numbers(owner: object, y: Any, *, single: bool = False) -> np.ndarray:
    """Refuse observations that are not finite numbers of a usable shape; return the others."""
    array, name = np.asarray(y), type(owner).__name__
    shapes = "(point,)" if single else "(point,) or (point, output)"
    if array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} expects numbers as y; got entries of type {array.dtype}. "
            "Convert them to numbers first."
        )
    if array.ndim not in ((1,) if single else (1, 2)) or array.size == 0:
        raise ValueError(
            f"{name} expects y of shape {shapes} with at least one point; got {array.shape}. "
            "Reshape y."
        )
    unusable = int(np.sum(~np.isfinite(array)))
    if unusable:
        raise ValueError(
            f"{name} expects finite numbers as y; got {unusable} that are NaN or infinite. "
            "Remove these rows or fill them in."
        )
    return array
