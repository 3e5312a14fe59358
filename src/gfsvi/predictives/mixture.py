"""The predictive distribution of numbers as a mixture over draws of the function."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.constraints import real
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import (
    AbstractConditional,
    AbstractScaledPredictive,
    FunctionDraws,
    FunctionValues,
    Observed,
    ResponseDraws,
    Responses,
    returns_numpy,
    user_layout,
)

# Observations per point that quantiles are read from, and points at a time, to bound memory.
_NUM_OBSERVATIONS = 2048
_NUM_POINTS = 4096


class MixturePredictive(AbstractScaledPredictive):
    """scale * y + shift, where y scatters around equally likely draws of the function."""

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed
    conditional: AbstractConditional
    draws: FunctionDraws
    scale: Float[Array, ""] | Float[Array, " response"] = real(1.0)
    shift: Float[Array, ""] | Float[Array, " response"] = real(0.0)

    @classmethod
    @returns_numpy
    def of(cls, conditional: AbstractConditional, draws: FunctionDraws) -> "MixturePredictive":
        """The mixture of the conditional distributions given each draw."""
        draws = jnp.asarray(draws, jnp.float64)
        means, variances = _moments(conditional, draws)
        # Law of total variance: the spread of the means, and the mean of the variances.
        mean, spread = user_layout(jnp.mean(means, axis=0)), user_layout(jnp.var(means, axis=0))
        scatter = user_layout(jnp.mean(variances, axis=0))
        return cls(mean, spread, scatter, conditional=conditional, draws=draws)

    @returns_numpy
    def log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return _log_mean_exp(self._log_probs(y))

    @returns_numpy
    def expected_log_prob(self, y: AnyArray) -> Float[Array, " point"]:
        return jnp.mean(self._log_probs(y), axis=0)

    @returns_numpy
    def quantile(self, q: float | Float[AnyArray, " level"]) -> Array:
        """Quantiles of observations drawn with a fixed key, hence the same in every call."""
        levels, quantiles = jnp.asarray(q, jnp.float64), []
        for start in range(0, self.draws.shape[-1], _NUM_POINTS):
            draws = jnp.asarray(self.draws)[..., start : start + _NUM_POINTS]
            key = jax.random.fold_in(jax.random.key(0), start)
            # A negative scale turns the order around: scale first, sort then.
            observations = self._outward(_scattered(self.conditional, draws, key))
            quantiles.append(_quantiles(observations, levels))
        return jnp.concatenate(quantiles, axis=levels.ndim)

    @returns_numpy
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        return self._outward(_observations(self.conditional, self.draws, num_samples, key))

    def head(self, num_points: int) -> "MixturePredictive":
        draws = self.draws[..., :num_points]
        return dataclasses.replace(self, draws=draws, **self._first_moments(num_points))

    def _outward(self, observations: ResponseDraws) -> Array:
        return self.scale * user_layout(observations) + self.shift

    def _log_probs(self, y: AnyArray) -> Float[Array, "sample point"]:
        y = jnp.asarray(y, jnp.float64)
        log_probs = _log_probs(self.conditional, self.draws, (y - self.shift) / self.scale)
        if self.conditional.discrete:
            return log_probs
        # p(scale * y + shift) = p(y) / |scale|, for each response
        jacobian = jnp.broadcast_to(jnp.log(jnp.abs(self.scale)), y.shape[1:] or (1,))
        return log_probs - jnp.sum(jacobian)


# One draw of the function at a time: a conditional may need much memory for each.


@eqx.filter_jit
def _log_probs(
    conditional: AbstractConditional, draws: FunctionDraws, y: AnyArray
) -> Float[Array, "sample point"]:
    return jax.lax.map(lambda f: conditional.log_prob(y, f), draws)


@jax.jit
def _log_mean_exp(log_probs: Float[Array, "sample point"]) -> Float[Array, " point"]:
    return logsumexp(log_probs, axis=0) - jnp.log(len(log_probs))


@eqx.filter_jit
def _moments(
    conditional: AbstractConditional, draws: FunctionDraws
) -> tuple[ResponseDraws, ResponseDraws]:
    return jax.lax.map(conditional.moments, draws)


@eqx.filter_jit
def _scattered(
    conditional: AbstractConditional, draws: FunctionDraws, key: PRNGKeyArray
) -> ResponseDraws:
    repeats = -(-_NUM_OBSERVATIONS // len(draws))

    def around(f_and_key: tuple[FunctionValues, PRNGKeyArray]) -> Array:
        return conditional.draw(f_and_key[0], repeats, key=f_and_key[1])

    observations = jax.lax.map(around, (draws, jax.random.split(key, len(draws))))
    return observations.reshape(-1, *observations.shape[2:])


@jax.jit
def _quantiles(observations: Float[Array, "sample *shape"], levels: Array) -> Array:
    # The smallest observation that a share q of all does not exceed: correct for counts, too.
    count = len(observations)
    ranks = jnp.clip(jnp.ceil(levels * count).astype(int) - 1, 0, count - 1)
    return jnp.sort(observations, axis=0)[ranks]


@eqx.filter_jit
def _observations(
    conditional: AbstractConditional, draws: FunctionDraws, num_samples: int, key: PRNGKeyArray
) -> ResponseDraws:
    num_points = draws.shape[-1]

    def observation(key: PRNGKeyArray) -> Responses:
        choice_key, draw_key = jax.random.split(key)
        chosen = jax.random.choice(choice_key, len(draws), (num_points,))
        f = draws[chosen, :, jnp.arange(num_points)].T
        return conditional.draw(f, 1, key=draw_key)[0]

    return jax.lax.map(observation, jax.random.split(key, num_samples))
