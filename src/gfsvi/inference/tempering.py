"""How sure a network is, how far it follows the process, and how wide to be, by held-out rows.

The closed form is the best posterior under its prior. A process that compares images pixel by pixel
knows less about them than a trained network does, so that its optimum is worse than the network it
started from, and too wide. Held-out labels decide how much of it to keep.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import itertools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import OptimizeResult, minimize_scalar

from gfsvi.data import Data
from gfsvi.functions.tangents import AbstractTangents, LastLayerTangents
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.numerics.types import Points
from gfsvi.values import Independent

STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
TEMPERATURES = (0.01, 0.03, 0.1, 0.3, 1.0)
MOST_SHARPENED = 1.0
"""The logarithm of the largest factor of a last layer."""

AtRows = Float[np.ndarray, "output row"]


class Tempering(NamedTuple):
    """The share of the step of the mean that is taken, and what the covariance is multiplied by."""

    step: float = 1.0
    temperature: float = 1.0


def most_probable_tempering(
    likelihood: AbstractLikelihood, held_out: Data, f: AtRows, move: AtRows, variance: AtRows
) -> Tempering:
    """The tempering under which held-out rows are most probable.

    Args:
        likelihood: The likelihood.
        held_out: Rows that neither the network nor the posterior has seen.
        f: The network at these rows.
        move: What the whole step of the mean adds to it.
        variance: The variance of the function there.
    """

    def log_density(tempering: Tempering) -> float:
        values = Independent(f + tempering.step * move, tempering.temperature * variance)
        predictive = likelihood.predict(values, key=jax.random.key(0))
        return float(held_out.mean(predictive.log_prob(np.asarray(held_out.y))))

    # Of equals, the widest and the one nearest to the optimum.
    candidates = itertools.starmap(Tempering, itertools.product(STEPS[::-1], TEMPERATURES[::-1]))
    return max(candidates, key=log_density)


def sharpened(
    tangents: AbstractTangents, likelihood: AbstractLikelihood, held_out: Data | None
) -> AbstractTangents:
    """The network with its last layer multiplied so that held-out labels are most probable.

    A short training, and a prior that pulls at every step, leave it too unsure of labels; a long
    one leaves it too sure. Networks of anything but labels of images stay as they are.
    """
    is_final = isinstance(tangents, LastLayerTangents)
    if held_out is None or likelihood.solved_as_normal or not is_final:
        return tangents
    f = np.asarray(_outputs(tangents.network, tangents.params, held_out.x), np.float64).T

    def loss(log_factor: float) -> float:
        log_probs = likelihood.log_prob(np.asarray(held_out.y), np.exp(log_factor) * f)
        return -float(held_out.mean(log_probs))

    bounds = (-MOST_SHARPENED, MOST_SHARPENED)
    found: OptimizeResult = minimize_scalar(loss, bounds=bounds, method="bounded")
    *before, last = tangents.params
    scaled = (*before, (np.exp(found["x"]) * last).astype(last.dtype))
    return LastLayerTangents(tangents.network, scaled)


@eqx.filter_jit
def _outputs(network: AbstractNetwork, params: Params, x: Points) -> Array:
    return network.apply(params, jnp.asarray(x))
