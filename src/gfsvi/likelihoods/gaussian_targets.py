"""The Gaussian regression that stands in for a likelihood when a prior is chosen."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.predictives.base import FunctionValues as FunctionValues


class GaussianTargets(NamedTuple):
    """The Gaussian regression that stands in for a likelihood when a prior is chosen.

    `log_factor` has the logarithm of what each row's Gaussian density has to be multiplied by,
    such as the derivative of a warp.
    """

    values: FunctionValues
    variance: FunctionValues
    log_factor: Float[Array, " point"] | float = 0.0

    def weighted(self, weights: Float[Array, " point"] | None) -> "GaussianTargets":
        """The regression in which each row counts as often as its weight says."""
        if weights is None:
            return self
        weights = jnp.asarray(weights, jnp.float64)
        # N(t | f, s2)^w = N(t | f, s2 / w) (2 pi s2)^((1 - w) / 2) w^(-1/2), for each output
        variance = jnp.broadcast_to(self.variance, jnp.shape(self.values))
        factor = (1 - weights) * jnp.log(2 * jnp.pi * variance) / 2 - jnp.log(weights) / 2
        log_factor = weights * self.log_factor + jnp.sum(factor, axis=0)
        return GaussianTargets(self.values, variance / weights, log_factor)


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
