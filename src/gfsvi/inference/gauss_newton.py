"""The mean of a linearised network, fitted by damped Gauss-Newton steps.

For the mean, the objective of GFSVI is a least-squares problem: the log-likelihood of the data
and the whitened distance to the prior mean at the measurement points. If the Jacobian fits in
memory, a few dozen steps replace tens of thousands of first-order ones.
"""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference.models import LinearizedModel
from gfsvi.inference.sums import total_log_prob
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.networks.base import Params
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, row_gram, solve_lower
from gfsvi.numerics.types import Points
from gfsvi.values import as_gaussian

MAX_ELEMENTS = 2**22
"""Maximum size of the Jacobian; beyond it thousands of cheap steps are faster."""


def is_affordable(model: LinearizedModel, data: Data, num_points: int) -> bool:
    """Whether the Jacobian of a Gauss-Newton step on all rows is small enough."""
    num_weights = sum(leaf.size for leaf in jax.tree.leaves(model.function.params))
    num_outputs = model.likelihood.num_outputs(data.y)
    return (len(data) + num_points) * num_outputs * num_weights <= MAX_ELEMENTS


def fit_mean(
    model: LinearizedModel,
    prior: AbstractRandomFunction,
    data: Data,
    points: Points,
    *,
    gamma: float,
    num_steps: int,
) -> LinearizedModel:
    """Fit the mean weights to data and prior."""
    params = model.function.params
    flat, unravel = ravel_pytree(jax.tree.map(lambda p: p.astype(jnp.float64), params))
    problem = _Problem.of(model, prior, data, points, gamma)
    best = unravel(_minimize(problem, unravel, flat, num_steps))
    params = jax.tree.map(lambda new, old: new.astype(old.dtype), best, params)
    return eqx.tree_at(lambda m: m.function.params, model, params)


class _Problem(eqx.Module):
    """Data and whitened prior as one least-squares problem in the weights."""

    function: LinearizedNetwork
    likelihood: AbstractLikelihood
    data: Data
    x: Points
    prior_mean: Float[Array, "output point"]
    prior_factor: Float[Array, "#output point point"]

    @classmethod
    def of(
        cls,
        model: LinearizedModel,
        prior: AbstractRandomFunction,
        data: Data,
        points: Points,
        gamma: float,
    ) -> "_Problem":
        values = as_gaussian(prior.at(points))
        added = gamma * len(points)
        factor = cholesky(add_to_diagonal(values.cov, added), added)
        x = jnp.concatenate([jnp.asarray(data.x, jnp.float64), jnp.asarray(points, jnp.float64)])
        data = jax.tree.map(jnp.asarray, data)
        return cls(model.function, model.likelihood, data, x, values.mean, factor)

    def cost(self, params: Array) -> Float[Array, ""]:
        of_data, of_points = self._values(params)
        white = solve_lower(self.prior_factor, (of_points - self.prior_mean)[..., None])
        return 0.5 * jnp.sum(white**2) - total_log_prob(self.likelihood, self.data, of_data)

    def least_squares(
        self, params: Array
    ) -> tuple[Float[Array, "row weight"], Float[Array, " row"]]:
        """Rows A and targets b: a step solves A step = b."""
        of_data, of_points = self._values(params)
        slope, curvature = self._derivatives(of_data)
        network = self.function.network
        outputs = jnp.eye(len(of_data))
        leaves = network.jacobian(params, self.x, outputs)
        rows = jnp.concatenate([leaf.multiplied_out() for leaf in leaves], axis=-1)
        rows = jnp.swapaxes(rows, 0, 1)
        root = jnp.sqrt(curvature)
        data_rows = root[..., None] * rows[:, : len(self.data)]
        residual = (self.prior_mean - of_points)[..., None]
        white = solve_lower(
            self.prior_factor, jnp.concatenate([rows[:, len(self.data) :], residual], axis=-1)
        )
        every_row = jnp.concatenate([data_rows, white[..., :-1]], axis=1)
        targets = jnp.concatenate([slope / root, white[..., -1]], axis=1)
        return jnp.reshape(every_row, (-1, every_row.shape[-1])), jnp.ravel(targets)

    def _values(self, params: Array) -> tuple[Array, Array]:
        f = self.function.network.apply(params, self.x).T
        return f[:, : len(self.data)], f[:, len(self.data) :]

    def _derivatives(self, f: Float[Array, "output row"]) -> tuple[Array, Array]:
        """Gradient and (positive) curvature of the log-likelihood in each function value."""
        slope = jax.grad(lambda values: total_log_prob(self.likelihood, self.data, values))

        def curvature_of(output: Float[Array, " output"]) -> Array:
            direction = jnp.broadcast_to(output[:, None], f.shape)
            return -jnp.sum(jax.jvp(slope, (f,), (direction,))[1] * direction, axis=0)

        curvature = jax.vmap(curvature_of)(jnp.eye(len(f)))
        return slope(f), jnp.maximum(curvature, 1e-3)


class _Search(NamedTuple):
    weights: Float[Array, " weight"]
    cost: Float[Array, ""]
    damping: Float[Array, ""]


@eqx.filter_jit
def _minimize(
    problem: _Problem, unravel: Callable[[Array], Params], start: Array, num_steps: int
) -> Array:
    def step(search: _Search, _: None) -> tuple[_Search, None]:
        rows, targets = problem.least_squares(unravel(search.weights))
        gram = row_gram(rows)
        damped = add_to_diagonal(gram, search.damping * jnp.mean(jnp.diagonal(gram)))
        factor = cholesky(damped)[None]
        dual = solve_lower(factor, solve_lower(factor, targets[None, :, None]), transpose=True)
        weights = search.weights + dual[0, :, 0] @ rows
        cost = problem.cost(unravel(weights))
        better = cost < search.cost
        # Levenberg-Marquardt: trust the linearisation more after each success.
        return _Search(
            jnp.where(better, weights, search.weights),
            jnp.where(better, cost, search.cost),
            jnp.clip(search.damping * jnp.where(better, 0.3, 4.0), 1e-12, 1e6),
        ), None

    first = _Search(start, problem.cost(unravel(start)), jnp.array(1.0))
    return jax.lax.scan(step, first, length=num_steps)[0].weights
