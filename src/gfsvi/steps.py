"""Compiled steps of an optimiser over the learnable parts of a model."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.compilation import compile_now
from gfsvi.data import Data
from gfsvi.linalg import without_repair
from gfsvi.params import from_free, is_learnable, to_free

Where = Callable[[Any], Any]
Parts = dict[str, Float[Array, ""]]
SLOW = 1 / 30


class Objective(Protocol):
    """What is maximised: a number for a model and a batch, with its parts by name.

    A function, or a module: what it holds may then change without compiling anew.
    """

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


class Steps(eqx.Module):
    """Steps over batches of data, many in one compiled call.

    Equal shapes are compiled once a session: nothing here is closed over by what is compiled.
    """

    objective: Objective
    optimizer: optax.GradientTransformation = eqx.field(static=True)
    rest: Any
    batch_size: int = eqx.field(static=True)
    slow: Where | None = eqx.field(static=True, default=None)

    def start(self, params: Any, num_rows: int, key: PRNGKeyArray) -> State:
        """The state before the first step."""
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, num_rows)
        cursor = jnp.zeros((), order.dtype)
        return State(params, self.optimizer.init(params), order, cursor, key)

    def run(self, state: State, data: Data, count: int) -> tuple[State, dict[str, np.ndarray]]:
        """Take `count` steps; what is recorded has one entry a step."""
        after, record = _run(self, state, data, count)
        if not np.all(record["finite"]):
            # Rounding may be all that is wrong: once more, with every factor repaired.
            after, record = _run_carefully(self, state, data, count)
        return after, jax.tree.map(np.asarray, record)

    def compile(self, state: State, data: Data, count: int) -> None:
        """Have the program ready that takes `count` steps."""
        compile_now(_run, self, state, data, count)

    def assemble(self, params: Any) -> Any:
        """The model with these parameters."""
        return from_free(eqx.combine(params, self.rest))

    def scan(self, state: State, data: Data, count: int) -> tuple[State, Parts]:
        """The steps, to be compiled."""
        return jax.lax.scan(lambda carry, _: self._step(carry, data), state, length=count)

    def _step(self, state: State, data: Data) -> tuple[State, Parts]:
        key, objective_key, order_key = jax.random.split(state.key, 3)
        order, cursor, batch = self._next_batch(state, data, order_key)
        loss = jax.value_and_grad(self._loss, has_aux=True)
        (value, parts), gradient = loss(state.params, batch, len(data), objective_key)
        finite = jnp.isfinite(value) & jnp.isfinite(optax.tree.norm(gradient))
        updates, optimizer = self.optimizer.update(gradient, state.optimizer, state.params)
        if self.slow is not None:
            updates = eqx.tree_at(self.slow, updates, replace_fn=_slowed)
        # A step that is not finite is not taken, so that the last good state can be looked at.
        params, optimizer = jax.tree.map(
            lambda new, old: jnp.where(finite, new, old),
            (optax.apply_updates(state.params, updates), optimizer),
            (state.params, state.optimizer),
        )
        record = {"objective": -value, "finite": finite, **parts}
        return State(params, optimizer, order, cursor, key), record

    def _next_batch(
        self, state: State, data: Data, key: PRNGKeyArray
    ) -> tuple[Int[Array, " row"], Int[Array, ""], Data]:
        """The next rows of a shuffled order; a new order when the old one is used up."""
        if self.batch_size >= len(data):
            return state.order, state.cursor, data
        exhausted = state.cursor + self.batch_size > len(data)
        order = jax.lax.cond(
            exhausted, lambda: jax.random.permutation(key, len(data)), lambda: state.order
        )
        cursor = jnp.where(exhausted, 0, state.cursor)
        rows = jax.lax.dynamic_slice(order, (cursor,), (self.batch_size,))
        return order, cursor + self.batch_size, data.take(rows)

    def _loss(
        self, params: Any, batch: Data, num_rows: int, key: PRNGKeyArray
    ) -> tuple[Array, Parts]:
        scale = num_rows / len(batch)
        value, parts = self.objective(self.assemble(params), batch, scale, key=key)
        return -value / num_rows, parts


@eqx.filter_jit
def _run(steps: Steps, state: State, data: Data, count: int) -> tuple[State, Parts]:
    with without_repair():
        return steps.scan(state, data, count)


@eqx.filter_jit
def _run_carefully(steps: Steps, state: State, data: Data, count: int) -> tuple[State, Parts]:
    return steps.scan(state, data, count)


def learnable_parts(model: Any, fixed: Where | None) -> tuple[Any, Any]:
    """The unconstrained parameters that are learned, and the rest of the model."""
    spec = jax.tree.map(is_learnable, model)
    if fixed is not None and jax.tree.leaves(fixed(model)):
        spec = eqx.tree_at(fixed, spec, replace_fn=lambda node: jax.tree.map(lambda _: False, node))
    learnable, rest = eqx.partition(to_free(model), spec)
    return jax.tree.map(jnp.asarray, learnable), rest


def _slowed(updates: Any) -> Any:
    return jax.tree.map(lambda update: update * SLOW, updates)
