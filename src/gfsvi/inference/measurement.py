"""Compare a posterior with its prior at measurement points."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.inference.divergences import regularized_divergence
from gfsvi.inference.models import LinearizedModel
from gfsvi.inference.outputs import some_outputs
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.steps import Parts
from gfsvi.values import as_gaussian

MAX_ROWS_AS_POINTS = 400
NUM_BOX_POINTS = 100


class RegularizedKL(eqx.Module):
    """The regularised KL at measurement points drawn anew at every step."""

    prior: AbstractRandomFunction
    points: AbstractPoints
    gamma: float = eqx.field(static=True)
    num_outputs: int | None = eqx.field(static=True, default=None)

    def __call__(
        self, model: LinearizedModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        x = self.points.draw(batch.x, key=key)
        prior = as_gaussian(self.prior.at(x))
        total = len(prior.mean)
        # The sum of the outputs' divergences: lower than the joint divergence if the posterior
        # correlates outputs, which the paper ignores as well.
        chosen = some_outputs(self.num_outputs, total, key=jax.random.fold_in(key, 1))
        if chosen is None:
            posterior, times = model.function.at(x), 1.0
        else:
            posterior = model.function.at(x, outputs=jnp.eye(total)[chosen])
            prior, times = prior.of_outputs(chosen), total / len(chosen)
        divergence = regularized_divergence(posterior, prior, gamma=self.gamma)
        return times * divergence.value, {"smallest_pivot": divergence.smallest_pivot}


def points_beside_rows(num_rows: int, further: AbstractPoints | None = None) -> AbstractPoints:
    """Training inputs, up to a maximum number, and further points, by default in a box."""
    rows = FixedPoints() if num_rows <= MAX_ROWS_AS_POINTS else BatchRows(MAX_ROWS_AS_POINTS)
    return Mixture((rows, UniformBox(NUM_BOX_POINTS) if further is None else further))


def points_among_images(num_points: int = 25) -> AbstractPoints:
    """Images of the batch and images of uniform noise, half and half as in the paper."""
    num_box = num_points // 2
    return Mixture((BatchRows(num_points - num_box), UniformBox(num_box)))
