"""The Gaussian regression that stands in for a likelihood when a prior is chosen."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.predictives.base import FunctionValues as FunctionValues


class GaussianTargets(NamedTuple):
    """The Gaussian regression that stands for a likelihood when a prior is chosen."""

    values: FunctionValues
    variance: FunctionValues
    # log of the derivative of the targets by the observations, summed over all of them
    log_slope: Float[Array, ""] | float = 0.0


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
