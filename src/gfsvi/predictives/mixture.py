"""The predictive distribution of numbers as a mixture over draws of the function."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.numerics.constraints import real
from gfsvi.predictives.base import (
    AbstractConditional,
    AbstractRealPredictive,
    FunctionDraws,
    FunctionValues,
    Observed,
    handed_out,
    user_layout,
)

# Observations a point that a quantile is read off, and points at a time to bound the memory.
_NUM_OBSERVATIONS = 2048
_NUM_POINTS = 4096


class MixturePredictive(AbstractRealPredictive):
    """Equally likely draws of the function, and a distribution around each: scale * y + shift."""

    mean: Observed
    epistemic_variance: Observed
    aleatoric_variance: Observed
    conditional: AbstractConditional
    draws: FunctionDraws
    scale: Float[Array, ""] | Float[Array, " response"] = real(1.0)
    shift: Float[Array, ""] | Float[Array, " response"] = real(0.0)

    @classmethod
    @handed_out
    def of(cls, conditional: AbstractConditional, draws: FunctionDraws) -> "MixturePredictive":
        """The mixture of the conditional distributions given each of the draws."""
        draws = jnp.asarray(draws, jnp.float64)
        means, variances = _moments(conditional, draws)
        # Law of total variance: the spread of the means, and the mean of the variances.
        mean, spread = user_layout(jnp.mean(means, axis=0)), user_layout(jnp.var(means, axis=0))
        return cls(mean, spread, user_layout(jnp.mean(variances, axis=0)), conditional, draws)

    @handed_out
    def log_prob(self, y: Array) -> Float[Array, " point"]:
        return _log_mean_exp(self._log_probs(y))

    @handed_out
    def expected_log_prob(self, y: Array) -> Float[Array, " point"]:
        return jnp.mean(self._log_probs(y), axis=0)

    @handed_out
    def quantile(self, q: float | Float[Array, " level"]) -> Array:
        """Read off observations drawn with a fixed key, so that the answer does not change."""
        levels, quantiles = jnp.asarray(q, jnp.float64), []
        for start in range(0, self.draws.shape[-1], _NUM_POINTS):
            draws = jnp.asarray(self.draws)[..., start : start + _NUM_POINTS]
            key = jax.random.fold_in(jax.random.key(0), start)
            # A negative scale turns the order around: scale first, sort then.
            observations = self._outward(_scattered(self.conditional, draws, key))
            quantiles.append(_quantiles(observations, levels))
        return jnp.concatenate(quantiles, axis=levels.ndim)

    @handed_out
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample *shape"]:
        return self._outward(_observations(self.conditional, self.draws, num_samples, key))

    def head(self, num_points: int) -> "MixturePredictive":
        first = [self.mean, self.epistemic_variance, self.aleatoric_variance]
        return MixturePredictive(
            *(part[:num_points] for part in first),
            self.conditional,
            self.draws[..., :num_points],
            self.scale,
            self.shift,
        )

    @handed_out
    def rescaled(self, scale: Array | float, shift: Array | float) -> "MixturePredictive":
        scale = jnp.asarray(scale, jnp.float64)
        return MixturePredictive(
            scale * self.mean + shift,
            jnp.square(scale) * self.epistemic_variance,
            jnp.square(scale) * self.aleatoric_variance,
            self.conditional,
            self.draws,
            scale * self.scale,
            scale * self.shift + shift,
        )

    def _outward(self, observations: Float[Array, "sample response point"]) -> Array:
        return self.scale * user_layout(observations) + self.shift

    def _log_probs(self, y: Array) -> Float[Array, "sample point"]:
        y = jnp.asarray(y, jnp.float64)
        log_probs = _log_probs(self.conditional, self.draws, (y - self.shift) / self.scale)
        if self.conditional.discrete:
            return log_probs
        # p(scale * y + shift) = p(y) / |scale|, for each response
        jacobian = jnp.broadcast_to(jnp.log(jnp.abs(self.scale)), y.shape[1:] or (1,))
        return log_probs - jnp.sum(jacobian)


# One draw of the function after the other: a conditional may need much memory for each.


@eqx.filter_jit
def _log_probs(
    conditional: AbstractConditional, draws: FunctionDraws, y: Array
) -> Float[Array, "sample point"]:
    return jax.lax.map(lambda f: conditional.log_prob(y, f), draws)


@jax.jit
def _log_mean_exp(log_probs: Float[Array, "sample point"]) -> Float[Array, " point"]:
    return logsumexp(log_probs, axis=0) - jnp.log(len(log_probs))


@eqx.filter_jit
def _moments(
    conditional: AbstractConditional, draws: FunctionDraws
) -> tuple[Float[Array, "sample response point"], Float[Array, "sample response point"]]:
    return jax.lax.map(conditional.moments, draws)


@eqx.filter_jit
def _scattered(
    conditional: AbstractConditional, draws: FunctionDraws, key: PRNGKeyArray
) -> Float[Array, "sample response point"]:
    repeats = -(-_NUM_OBSERVATIONS // len(draws))

    def around(f_and_key: tuple[FunctionValues, PRNGKeyArray]) -> Array:
        return conditional.draw(f_and_key[0], repeats, key=f_and_key[1])

    observations = jax.lax.map(around, (draws, jax.random.split(key, len(draws))))
    return observations.reshape(-1, *observations.shape[2:])


@jax.jit
def _quantiles(observations: Float[Array, "sample *shape"], levels: Array) -> Array:
    # The smallest observation that a share q of all does not exceed: right for counts, too.
    count = len(observations)
    ranks = jnp.clip(jnp.ceil(levels * count).astype(int) - 1, 0, count - 1)
    return jnp.sort(observations, axis=0)[ranks]


@eqx.filter_jit
def _observations(
    conditional: AbstractConditional, draws: FunctionDraws, num_samples: int, key: PRNGKeyArray
) -> Float[Array, "sample response point"]:
    num_points = draws.shape[-1]

    def observation(key: PRNGKeyArray) -> Float[Array, "response point"]:
        choice_key, draw_key = jax.random.split(key)
        chosen = jax.random.choice(choice_key, len(draws), (num_points,))
        f = draws[chosen, :, jnp.arange(num_points)].T
        return conditional.draw(f, 1, key=draw_key)[0]

    return jax.lax.map(observation, jax.random.split(key, num_samples))
