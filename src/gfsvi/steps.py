"""Compiled steps of an optimiser over the learnable parts of a model."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.params import from_free, is_learnable, to_free

Where = Callable[[Any], Any]
Parts = dict[str, Float[Array, ""]]
SLOW = 1 / 30


class Objective(Protocol):
    """What is maximised: a number for a model and a batch, with its parts by name."""

    def __call__(
        self, model: Any, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        """`scale` is rows of data for each row of the batch."""
        ...


class State(NamedTuple):
    """All that one step hands to the next."""

    params: Any
    optimizer: Any
    order: Int[Array, " row"]
    cursor: Int[Array, ""]
    key: PRNGKeyArray


class Steps:
    """Steps over batches of `data`, many in one compiled call."""

    def __init__(
        self,
        objective: Objective,
        optimizer: optax.GradientTransformation,
        model: Any,
        data: Data,
        batch_size: int,
        *,
        fixed: Where | None = None,
        slow: Where | None = None,
    ):
        self._slow = slow
        self._objective = objective
        self._optimizer = optimizer
        self._data = jax.tree.map(jnp.asarray, data)
        self._batch_size = min(batch_size, len(data))
        learnable, self._static = eqx.partition(to_free(model), _learnable(model, fixed))
        self._learnable = jax.tree.map(jnp.asarray, learnable)
        self._run = eqx.filter_jit(self._scan)

    def start(self, key: PRNGKeyArray) -> State:
        """The state before the first step."""
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, len(self._data))
        optimizer = self._optimizer.init(self._learnable)
        return State(self._learnable, optimizer, order, jnp.array(0), key)

    def run(self, state: State, count: int) -> tuple[State, dict[str, np.ndarray]]:
        """Take `count` steps; what is recorded has one entry a step."""
        state, record = self._run(state, self._data, count)
        return state, jax.tree.map(np.asarray, record)

    def assemble(self, params: Any) -> Any:
        """The model with these parameters."""
        return from_free(eqx.combine(params, self._static))

    def _scan(self, state: State, data: Data, count: int) -> tuple[State, Parts]:
        return jax.lax.scan(lambda carry, _: self._step(carry, data), state, length=count)

    def _step(self, state: State, data: Data) -> tuple[State, Parts]:
        key, objective_key, order_key = jax.random.split(state.key, 3)
        order, cursor, rows = _next_rows(state, self._batch_size, order_key)
        batch = data if self._batch_size == len(data) else data.take(rows)
        loss = jax.value_and_grad(self._loss, has_aux=True)
        (value, parts), gradient = loss(state.params, batch, objective_key)
        finite = jnp.isfinite(value) & jnp.isfinite(optax.tree.norm(gradient))
        updates, optimizer = self._optimizer.update(gradient, state.optimizer, state.params)
        if self._slow is not None:
            updates = eqx.tree_at(self._slow, updates, replace_fn=_slowed)
        # A step that is not finite is not taken, so that the last good state can be looked at.
        params, optimizer = jax.tree.map(
            lambda new, old: jnp.where(finite, new, old),
            (optax.apply_updates(state.params, updates), optimizer),
            (state.params, state.optimizer),
        )
        record = {"objective": -value, "finite": finite, **parts}
        return State(params, optimizer, order, cursor, key), record

    def _loss(self, params: Any, batch: Data, key: PRNGKeyArray) -> tuple[Array, Parts]:
        num_rows = len(self._data)
        scale = num_rows / self._batch_size
        value, parts = self._objective(self.assemble(params), batch, scale, key=key)
        return -value / num_rows, parts


def _learnable(model: Any, fixed: Where | None) -> Any:
    spec = jax.tree.map(is_learnable, model)
    if fixed is None or not jax.tree.leaves(fixed(model)):
        return spec
    return eqx.tree_at(fixed, spec, replace_fn=lambda node: jax.tree.map(lambda _: False, node))


def _slowed(updates: Any) -> Any:
    return jax.tree.map(lambda update: update * SLOW, updates)


def _next_rows(
    state: State, batch_size: int, key: PRNGKeyArray
) -> tuple[Int[Array, " row"], Int[Array, ""], Int[Array, " batch"]]:
    """The next rows of a shuffled order; a new order when the old one is used up."""
    num_rows = len(state.order)
    exhausted = state.cursor + batch_size > num_rows
    order = jax.lax.cond(
        exhausted, lambda: jax.random.permutation(key, num_rows), lambda: state.order
    )
    cursor = jnp.where(exhausted, 0, state.cursor)
    rows = jax.lax.dynamic_slice(order, (cursor,), (batch_size,))
    return order, cursor + batch_size, rows
