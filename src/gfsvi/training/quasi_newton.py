"""Full-batch L-BFGS steps with a line search.

For a mean function, whose objective is deterministic, a step of L-BFGS is worth several of Adam:
on the naval table it reaches an eighth of the squared error in a third of the time.
"""

import functools
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.typing import DTypeLike
from jaxtyping import Array, PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.numerics.constraints import from_free
from gfsvi.training.steps import AbstractSteps, Objective, Parts, taken_if

MEMORY = 20
MAX_TRIALS = 10


class QuasiNewtonState(NamedTuple):
    """The state between steps, with parameters in the precision of the line search."""

    params: PyTree
    optimizer: PyTree
    key: PRNGKeyArray


class QuasiNewtonSteps(AbstractSteps[QuasiNewtonState]):
    """Steps of L-BFGS on all rows.

    Gradients keep the precision of the network; their differences, which give the curvature,
    need double precision.
    """

    objective: Objective
    rest: PyTree
    dtypes: tuple[DTypeLike, ...] = eqx.field(static=True)

    @classmethod
    def over(cls, objective: Objective, params: PyTree, rest: PyTree) -> "QuasiNewtonSteps":
        """Steps for parameters of these dtypes."""
        return cls(objective, rest, tuple(leaf.dtype for leaf in jax.tree.leaves(params)))

    def start(self, params: PyTree, num_rows: int, key: PRNGKeyArray) -> QuasiNewtonState:
        params = jax.tree.map(lambda leaf: leaf.astype(_precise()), params)
        return QuasiNewtonState(params, _lbfgs().init(params), key)

    def step(self, state: QuasiNewtonState, data: Data) -> tuple[QuasiNewtonState, Parts]:
        def loss(params: PyTree) -> Array:
            return self.loss(params, data, len(data), state.key)[0].astype(_precise())

        slope = optax.value_and_grad_from_state(loss)  # computed by the line search
        value, gradient = slope(state.params, state=state.optimizer)
        updates, optimizer = _lbfgs().update(
            gradient, state.optimizer, state.params, value=value, grad=gradient, value_fn=loss
        )
        finite = jnp.isfinite(value) & jnp.isfinite(optax.tree.norm(updates))
        params = optax.apply_updates(state.params, updates)
        before = state.params, state.optimizer
        params, optimizer = taken_if(finite, (params, optimizer), before)
        record = {"objective": -jnp.asarray(value), "finite": finite}
        return QuasiNewtonState(params, optimizer, state.key), record

    def assemble(self, params: PyTree) -> PyTree:
        leaves, structure = jax.tree.flatten(params)
        leaves = [leaf.astype(dtype) for leaf, dtype in zip(leaves, self.dtypes, strict=True)]
        return from_free(eqx.combine(jax.tree.unflatten(structure, leaves), self.rest))


def _precise() -> DTypeLike:
    return jnp.result_type(float)  # double, if JAX's 64-bit types are enabled


@functools.cache
def _lbfgs() -> optax.GradientTransformationExtraArgs:
    search = optax.scale_by_zoom_linesearch(MAX_TRIALS, initial_guess_strategy="one")
    return optax.lbfgs(memory_size=MEMORY, linesearch=search)
