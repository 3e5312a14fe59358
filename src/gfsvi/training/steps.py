"""Compiled steps of an optimiser over the learnable parts of a model."""

import abc
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.numerics.compilation import compile_now
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.linalg import without_repair

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


class AnyState(Protocol):
    """All that one step hands to the next, the parameters among it."""

    @property
    def params(self) -> Any: ...


S = TypeVar("S", bound=AnyState)
T = TypeVar("T")


class AbstractSteps(eqx.Module, Generic[S]):
    """Steps that maximise an objective, many in one compiled call.

    Equal shapes are compiled once a session: nothing here is closed over by what is compiled.
    """

    objective: eqx.AbstractVar[Objective]
    rest: eqx.AbstractVar[Any]

    @abc.abstractmethod
    def start(self, params: Any, num_rows: int, key: PRNGKeyArray) -> S:
        """The state before the first step."""

    @abc.abstractmethod
    def step(self, state: S, data: Data) -> tuple[S, Parts]:
        """The state after one step, and what is recorded of it."""

    @abc.abstractmethod
    def assemble(self, params: Any) -> Any:
        """The model with these parameters."""

    def run(self, state: S, data: Data, count: int) -> tuple[S, dict[str, np.ndarray]]:
        """Take `count` steps; what is recorded has one entry a step."""
        after, record = _run(self, state, data, count)
        if not np.all(record["finite"]):
            # Rounding may be all that is wrong: once more, with every factor repaired.
            after, record = _run_carefully(self, state, data, count)
        return after, jax.tree.map(np.asarray, record)

    def compile(self, state: S, data: Data, count: int) -> None:
        """Have the program ready that takes `count` steps."""
        compile_now(_run, self, state, data, count)

    def scan(self, state: S, data: Data, count: int) -> tuple[S, Parts]:
        """The steps, to be compiled."""
        return jax.lax.scan(lambda carry, _: self.step(carry, data), state, length=count)

    def loss(
        self, params: Any, batch: Data, num_rows: int, key: PRNGKeyArray
    ) -> tuple[Array, Parts]:
        """Minus the objective a row."""
        scale = num_rows / len(batch)
        value, parts = self.objective(self.assemble(params), batch, scale, key=key)
        return -value / num_rows, parts


class BatchState(NamedTuple):
    """All that one step hands to the next."""

    params: Any
    optimizer: Any
    order: Int[Array, " row"]
    cursor: Int[Array, ""]
    key: PRNGKeyArray


class BatchSteps(AbstractSteps[BatchState]):
    """Steps over batches of data."""

    objective: Objective
    optimizer: optax.GradientTransformation = eqx.field(static=True)
    rest: Any
    batch_size: int = eqx.field(static=True)
    slow: Where | None = eqx.field(static=True, default=None)

    def start(self, params: Any, num_rows: int, key: PRNGKeyArray) -> BatchState:
        key, order_key = jax.random.split(key)
        order = jax.random.permutation(order_key, num_rows)
        cursor = jnp.zeros((), order.dtype)
        return BatchState(params, self.optimizer.init(params), order, cursor, key)

    def step(self, state: BatchState, data: Data) -> tuple[BatchState, Parts]:
        key, objective_key, order_key = jax.random.split(state.key, 3)
        order, cursor, batch = self._next_batch(state, data, order_key)
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

    def assemble(self, params: Any) -> Any:
        return from_free(eqx.combine(params, self.rest))

    def _next_batch(
        self, state: BatchState, data: Data, key: PRNGKeyArray
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


def taken_if(finite: Array, after: T, before: T) -> T:
    """A step that is not finite is not taken, so that the last good state can be looked at."""
    return jax.tree.map(lambda new, old: jnp.where(finite, new, old), after, before)


@eqx.filter_jit
def _run(steps: AbstractSteps[S], state: S, data: Data, count: int) -> tuple[S, Parts]:
    with without_repair():
        return steps.scan(state, data, count)


@eqx.filter_jit
def _run_carefully(steps: AbstractSteps[S], state: S, data: Data, count: int) -> tuple[S, Parts]:
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
