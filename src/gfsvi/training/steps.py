"""Compiled optimiser steps over the learnable parts of a model."""

import abc
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.numerics.compilation import compile_now
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.devices import rows_divided
from gfsvi.numerics.linalg import without_repair

Where = Callable[[Any], PyTree]
"""Picks parts of a model."""
Parts = dict[str, Float[Array, ""]]
SLOW = 1 / 30


class Objective(Protocol):
    """An objective to maximise: a number for a model and a batch, and its named parts.

    A function, or a module, whose arrays can change without compiling again.
    """

    def __call__(
        self, model: Any, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        """`scale` is the number of rows of data per row of the batch."""
        ...


class AnyState(Protocol):
    """The state between steps, which includes the parameters."""

    @property
    def params(self) -> PyTree: ...


S = TypeVar("S", bound=AnyState)
T = TypeVar("T")


class AbstractSteps(eqx.Module, Generic[S]):
    """Steps that maximise an objective, many in one compiled call.

    Equal shapes are compiled once per session: compiled functions close over nothing.
    """

    objective: eqx.AbstractVar[Objective]
    rest: eqx.AbstractVar[PyTree]

    @abc.abstractmethod
    def start(self, params: PyTree, num_rows: int, key: PRNGKeyArray) -> S:
        """The state before the first step."""

    @abc.abstractmethod
    def step(self, state: S, data: Data) -> tuple[S, Parts]:
        """The state after one step, and its record."""

    @abc.abstractmethod
    def assemble(self, params: PyTree) -> PyTree:
        """The model with these parameters."""

    def run(self, state: S, data: Data, count: int) -> tuple[S, dict[str, np.ndarray]]:
        """Take `count` steps; the record has one entry per step."""
        after, record = _run(self, state, data, count)
        if not np.all(record["finite"]):
            # Rounding may be the only cause: repeat with every Cholesky factor repaired.
            after, record = _run_carefully(self, state, data, count)
        return after, jax.tree.map(np.asarray, record)

    def compile(self, state: S, data: Data, count: int) -> None:
        """Compile the program that takes `count` steps."""
        compile_now(_run, self, state, data, count)

    def scan(self, state: S, data: Data, count: int) -> tuple[S, Parts]:
        """The steps, to be compiled."""
        return jax.lax.scan(lambda carry, _: self.step(carry, data), state, length=count)

    def loss(
        self, params: PyTree, batch: Data, num_rows: int, key: PRNGKeyArray
    ) -> tuple[Array, Parts]:
        """Minus the objective per row."""
        scale = num_rows / len(batch)
        value, parts = self.objective(self.assemble(params), batch, scale, key=key)
        return -value / num_rows, parts


class BatchState(NamedTuple):
    """The state between steps."""

    params: PyTree
    optimizer: PyTree
    order: Int[Array, " row"]
    cursor: Int[Array, ""]
    key: PRNGKeyArray


class BatchSteps(AbstractSteps[BatchState]):
    """Steps over batches of data."""

    objective: Objective
    optimizer: optax.GradientTransformation = eqx.field(static=True)
    rest: PyTree
    batch_size: int = eqx.field(static=True)
    slow: Where | None = eqx.field(static=True, default=None)

    def start(self, params: PyTree, num_rows: int, key: PRNGKeyArray) -> BatchState:
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, num_rows)
        cursor = jnp.zeros((), order.dtype)
        return BatchState(params, self.optimizer.init(params), order, cursor, key)

    def step(self, state: BatchState, data: Data) -> tuple[BatchState, Parts]:
        key, objective_key, order_key = jax.random.split(state.key, 3)
        order, cursor, batch = self._next_batch(state, data, order_key)
        batch = rows_divided(batch)
        loss = jax.value_and_grad(self.loss, has_aux=True)
        (value, parts), gradient = loss(state.params, batch, len(data), objective_key)
        finite = jnp.isfinite(value) & jnp.isfinite(optax.tree.norm(gradient))
        updates, optimizer = self.optimizer.update(gradient, state.optimizer, state.params)
        if self.slow is not None:
            updates = eqx.tree_at(self.slow, updates, replace_fn=_slowed)
        params = optax.apply_updates(state.params, updates)
        before = state.params, state.optimizer
        params, optimizer = taken_if(finite, (params, optimizer), before)
        record = {"objective": -value, "finite": finite, **parts}
        return BatchState(params, optimizer, order, cursor, key), record

    def assemble(self, params: PyTree) -> PyTree:
        return from_free(eqx.combine(params, self.rest))

    def _next_batch(
        self, state: BatchState, data: Data, key: PRNGKeyArray
    ) -> tuple[Int[Array, " row"], Int[Array, ""], Data]:
        """The next rows of a random order; a new order once all rows are used."""
        if self.batch_size >= len(data):
            return state.order, state.cursor, data
        exhausted = state.cursor + self.batch_size > len(data)
        order = jax.lax.cond(
            exhausted, lambda: jax.random.permutation(key, len(data)), lambda: state.order
        )
        cursor = jnp.where(exhausted, 0, state.cursor)
        rows = jax.lax.dynamic_slice(order, (cursor,), (self.batch_size,))
        return order, cursor + self.batch_size, data.take(rows)


def taken_if(finite: Array, after: T, before: T) -> T:
    """Keep the state before a step that is not finite, so that it can be inspected."""
    return jax.tree.map(lambda new, old: jnp.where(finite, new, old), after, before)


@eqx.filter_jit
def _run(steps: AbstractSteps[S], state: S, data: Data, count: int) -> tuple[S, Parts]:
    with without_repair():
        return steps.scan(state, data, count)


@eqx.filter_jit
def _run_carefully(steps: AbstractSteps[S], state: S, data: Data, count: int) -> tuple[S, Parts]:
    return steps.scan(state, data, count)


def learnable_parts(model: PyTree, fixed: Where | None) -> tuple[PyTree, PyTree]:
    """The unconstrained parameters to learn, and the rest of the model."""
    spec = jax.tree.map(is_learnable, model)
    if fixed is not None and jax.tree.leaves(fixed(model)):
        spec = eqx.tree_at(fixed, spec, replace_fn=lambda node: jax.tree.map(lambda _: False, node))
    learnable, rest = eqx.partition(to_free(model), spec)
    return jax.tree.map(jnp.asarray, learnable), rest


def _slowed(updates: PyTree) -> PyTree:
    return jax.tree.map(lambda update: update * SLOW, updates)
