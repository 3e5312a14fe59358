"""One training loop for every method: jitted chunks of steps over a model that is a pytree."""

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.model import Model
from gfsvi.params import from_free, is_learnable, to_free

Score = Callable[[Model, Data], Float[Array, ""]]
Where = Callable[[Any], Any]


class Objective(Protocol):
    """What is maximised: a number for a model and a batch, with its parts by name."""

    def __call__(
        self, model: Any, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        """`scale` is rows of data for each row of the batch."""
        ...


class Progress(NamedTuple):
    """How far training has come, for whoever watches it."""

    step: int
    num_steps: int
    objective: float
    score: float | None


@dataclasses.dataclass(frozen=True)
class Training:
    """How long and how fast to train.

    Args:
        num_steps: Steps at most.
        batch_size: Rows a step; all of them where there are fewer.
        learning_rate: Peak of a cosine schedule that warms up over the first steps.
        optimizer: Any optax optimiser instead of Adam with that schedule.
        evaluate_every: Steps between two looks at the validation score.
        patience: Looks without improvement before stopping early.
        watch: Called with the `Progress` after every look; return True to stop.
    """

    num_steps: int = 500
    batch_size: int = 2000
    learning_rate: float = 1e-2
    optimizer: optax.GradientTransformation | None = None
    evaluate_every: int = 25
    patience: int = 20
    watch: Callable[[Progress], bool | None] | None = None

    def build_optimizer(self) -> optax.GradientTransformation:
        """The optimiser of a run."""
        if self.optimizer is not None:
            return self.optimizer
        warmup = min(50, self.num_steps // 10)
        schedule = optax.warmup_cosine_decay_schedule(
            0.1 * self.learning_rate,
            self.learning_rate,
            warmup,
            max(self.num_steps, 1),
            1e-3 * self.learning_rate,
        )
        return optax.chain(optax.clip_by_global_norm(1e3), optax.adam(schedule))


class History(eqx.Module):
    """What happened while training: one entry a step, and one a look at the validation data."""

    steps: dict[str, np.ndarray]
    score_steps: np.ndarray
    scores: np.ndarray
    best_step: int = eqx.field(static=True)

    def plot(self, axes: Any = None) -> Any:
        """Draw objective and validation score against the step (needs matplotlib)."""
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if axes is None else axes
        axes.plot(self.steps["objective"], label="objective", color="#0072b2")
        axes.set_xlabel("step")
        axes.set_ylabel("objective a row")
        if len(self.scores):
            axes.plot(self.score_steps, self.scores, label="validation score", color="#d55e00")
            axes.axvline(self.best_step, color="0.6", linestyle=":", label="best")
        axes.legend()
        return axes


class Fit(eqx.Module):
    """The result of inference: a posterior, which is again a model, and how it was reached."""

    posterior: Model
    history: History


class _State(NamedTuple):
    params: Any
    optimizer: Any
    order: Int[Array, " row"]
    cursor: Int[Array, ""]
    key: PRNGKeyArray


def maximize(
    objective: Objective,
    model: Any,
    data: Data,
    training: Training,
    *,
    key: PRNGKeyArray,
    fixed: Where | None = None,
    validation: Data | None = None,
    score: Score | None = None,
    remedy: str = "Lower the learning rate.",
) -> tuple[Any, History]:
    """Maximise the objective over the learnable parts of `model`.

    With validation data the model that scored best there is returned, and training stops when
    the score no longer improves. A loss that is not finite is an error that says `remedy`.
    """
    learnable, static = eqx.partition(to_free(model), _learnable(model, fixed))
    learnable = jax.tree.map(jnp.asarray, learnable)
    optimizer = training.build_optimizer()
    run_chunk = _compile_chunk(objective, optimizer, static, data, training)
    key, order_key = jax.random.split(key)
    order = jax.random.permutation(order_key, len(data))
    state = _State(learnable, optimizer.init(learnable), order, jnp.array(0), key)

    def assemble(params: Any) -> Any:
        return from_free(eqx.combine(params, static))

    @eqx.filter_jit
    def rate(params: Any, held_out: Data) -> Float[Array, ""]:
        return score(assemble(params), held_out)  # pyright: ignore[reportOptionalCall]

    best, best_score, best_step = state.params, -np.inf, 0
    records, scores, step = [], [], 0
    while step < training.num_steps:
        count = min(training.evaluate_every, training.num_steps - step)
        state, record = run_chunk(state, count)
        _check_finite(record, step, remedy)
        records.append(record)
        step += count
        latest = None
        if validation is not None and score is not None:
            latest = float(rate(state.params, validation))
            scores.append((step, latest))
        if latest is None or latest > best_score:
            best, best_step = state.params, step
            best_score = best_score if latest is None else latest
        if training.watch is not None and training.watch(
            Progress(step, training.num_steps, float(record["objective"][-1]), latest)
        ):
            break
        if latest is not None and step - best_step >= training.patience * training.evaluate_every:
            break
    return assemble(best), _history(records, scores, best_step)


def _learnable(model: Any, fixed: Where | None) -> Any:
    spec = jax.tree.map(is_learnable, model)
    if fixed is None:
        return spec
    return eqx.tree_at(fixed, spec, replace_fn=lambda node: jax.tree.map(lambda _: False, node))


def _compile_chunk(
    objective: Objective,
    optimizer: optax.GradientTransformation,
    static: Any,
    data: Data,
    training: Training,
) -> Callable[[_State, int], tuple[_State, dict[str, np.ndarray]]]:
    batch_size = min(training.batch_size, len(data))
    scale = len(data) / batch_size

    def loss(params: Any, batch: Data, key: PRNGKeyArray) -> tuple[Array, dict[str, Array]]:
        value, parts = objective(from_free(eqx.combine(params, static)), batch, scale, key=key)
        return -value / len(data), parts

    def step(state: _State, data: Data) -> tuple[_State, dict[str, Array]]:
        key, objective_key, order_key = jax.random.split(state.key, 3)
        order, cursor, rows = _next_rows(state, batch_size, order_key)
        batch = data if batch_size == len(data) else data.take(rows)
        (value, parts), gradient = jax.value_and_grad(loss, has_aux=True)(
            state.params, batch, objective_key
        )
        finite = jnp.isfinite(value) & jnp.isfinite(optax.tree.norm(gradient))
        updates, optimizer_state = optimizer.update(gradient, state.optimizer, state.params)
        params = optax.apply_updates(state.params, updates)
        # A step that is not finite is not taken, so that the last good state can be looked at.
        params, optimizer_state = jax.tree.map(
            lambda new, old: jnp.where(finite, new, old),
            (params, optimizer_state),
            (state.params, state.optimizer),
        )
        record = {"objective": -value, "finite": finite, **parts}
        return _State(params, optimizer_state, order, cursor, key), record

    @eqx.filter_jit
    def run(state: _State, data: Data, count: int) -> tuple[_State, dict[str, Array]]:
        return jax.lax.scan(lambda carry, _: step(carry, data), state, length=count)

    on_device = jax.tree.map(jnp.asarray, data)

    def run_chunk(state: _State, count: int) -> tuple[_State, dict[str, np.ndarray]]:
        state, record = run(state, on_device, count)
        return state, jax.tree.map(np.asarray, record)

    return run_chunk


def _next_rows(
    state: _State, batch_size: int, key: PRNGKeyArray
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


def _check_finite(record: dict[str, np.ndarray], first_step: int, remedy: str) -> None:
    if np.all(record["finite"]):
        return
    failed = int(np.argmin(record["finite"]))
    parts = ", ".join(
        f"{name} {values[failed]:.3g}"
        for name, values in record.items()
        if name not in ("finite", "objective")
    )
    raise FloatingPointError(
        f"the objective or its gradient is not finite at step {first_step + failed + 1} ({parts}). "
        f"{remedy}"
    )


def _history(
    records: list[dict[str, np.ndarray]], scores: list[tuple[int, float]], best_step: int
) -> History:
    names = [name for name in (records[0] if records else {}) if name != "finite"]
    steps = {name: np.concatenate([record[name] for record in records]) for name in names}
    table = np.array(scores, dtype=np.float64).reshape(-1, 2)
    return History(steps, table[:, 0].astype(int), table[:, 1], best_step)
