"""The training loop of all methods, with periodic evaluation, early stopping and checkpoints."""

import dataclasses
from collections.abc import Callable
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.model import Model
from gfsvi.numerics.compilation import compile_now, filled
from gfsvi.numerics.precision import is_key
from gfsvi.training.history import History
from gfsvi.training.settings import Content, Progress, Training
from gfsvi.training.steps import (
    AbstractSteps,
    AnyState,
    Objective,
    Where,
    learnable_parts,
)

M = TypeVar("M", bound=Model)
T = TypeVar("T")
Score = Callable[[M, Data], Float[Array, ""]]


@dataclasses.dataclass
class _Run:
    """The progress of a training run: all that is needed to continue it."""

    state: AnyState
    best: PyTree
    best_score: float = -np.inf
    best_step: int = 0
    step: int = 0
    records: list[dict[str, np.ndarray]] = dataclasses.field(default_factory=list)
    scores: list[list[float]] = dataclasses.field(default_factory=list)
    stopped: bool = False

    def to_content(self) -> Content:
        """The run as nested dicts and lists of arrays."""
        return {
            "state": _to_leaves(self.state),
            "best": _to_leaves(self.best),
            "best_score": self.best_score,
            "best_step": self.best_step,
            "step": self.step,
            "records": _joined(self.records),
            "scores": list(self.scores),
            "stopped": self.stopped,
        }

    def resumed(self, content: Content, num_steps: int) -> "_Run":
        """This run, continued from `content`; from the start if that is not of such a run."""
        try:
            run = _Run(
                _from_leaves(content["state"], self.state),
                _from_leaves(content["best"], self.best),
                content["best_score"],
                content["best_step"],
                content["step"],
                [content["records"]],
                content["scores"],
                content["stopped"],
            )
            return run if run._is_whole(num_steps) else self
        except (TypeError, LookupError, ValueError, AttributeError):
            return self

    def _is_whole(self, num_steps: int) -> bool:
        """Whether what came from a file is consistent; a damaged file would have been noticed."""
        counts = (self.step, self.best_step, *(step for step, _ in self.scores))
        numbers = (self.best_score, *(score for _, score in self.scores))
        (record,) = self.records
        return (
            all(type(count) is int and 0 <= count <= num_steps for count in counts)
            and all(isinstance(number, float) for number in numbers)
            and type(self.stopped) is bool
            and {"objective", "finite"} <= record.keys()
            and all(type(name) is str for name in record)
            and all(np.shape(values) == (self.step,) for values in record.values())
        )


def maximize(
    objective: Objective,
    model: M,
    data: Data,
    training: Training,
    *,
    key: PRNGKeyArray,
    fixed: Where | None = None,
    validation: Data | None = None,
    score: Score | None = None,
    remedy: str = "Lower the learning rate.",
) -> tuple[M, History]:
    """Maximise the objective over the learnable parts of `model`.

    With validation data, training stops when the score no longer improves and returns the model
    with the best score. A loss that is not finite raises an error that recommends `remedy`.
    """
    training = training.for_rows(len(data))
    objective, model, data = jax.tree.map(_on_device, (objective, model, data))
    steps, state = _set_up(objective, model, data, training, key, fixed)
    rate = _judge(steps, validation, score)
    checkpoint = None if training.checkpoint is None else training.checkpoint()
    run = _Run(state, state.params)
    if checkpoint is not None and (content := checkpoint.load()) is not None:
        run = run.resumed(content, training.num_steps)
    while run.step < training.num_steps and not run.stopped:
        told_to_stop = _advance(run, steps, data, training, rate, remedy)
        if told_to_stop:  # not checkpointed as finished: a new start repeats all of it
            break
        if checkpoint is not None:
            finished = run.stopped or run.step == training.num_steps
            checkpoint.save(run.to_content(), finished=finished)
    return steps.assemble(run.best), _history(run)


def compile_ahead(
    objective: Objective,
    model: Model,
    data: Data,
    training: Training,
    *,
    key: PRNGKeyArray,
    fixed: Where | None = None,
    validation: Data | None = None,
    score: Score | None = None,
) -> None:
    """Compile what `maximize` runs for such arguments; arrays may be replaced by shapes.

    Several threads may compile at once, but not run: XLA's few threads could deadlock.
    """
    training = training.for_rows(len(data))
    data = jax.tree.map(_on_device, data)
    shapes = eqx.filter_eval_shape(_set_up, objective, model, data, training, key, fixed)
    steps, state = filled(shapes, key)
    count = min(training.evaluate_every, training.num_steps)
    steps.compile(state, data, count)
    if validation is not None and score is not None:
        held_out = jax.tree.map(_on_device, validation)
        compile_now(_rated, steps, state.params, held_out, score)


def _set_up(
    objective: Objective,
    model: Model,
    data: Data,
    training: Training,
    key: PRNGKeyArray,
    fixed: Where | None,
) -> tuple[AbstractSteps, AnyState]:
    params, rest = learnable_parts(model, fixed)
    steps = training.optimizer.steps(objective, params, rest, len(data), training.num_steps)
    return steps, steps.start(params, len(data), key)


def _on_device(leaf: object) -> object:
    """NumPy arrays as JAX arrays, since programs are compiled separately for both."""
    return jnp.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf


def _judge(
    steps: AbstractSteps, validation: Data | None, score: Score | None
) -> Callable[[PyTree], float] | None:
    if validation is None or score is None:
        return None
    held_out = jax.tree.map(_on_device, validation)
    return lambda params: float(_rated(steps, params, held_out, score))


@eqx.filter_jit
def _rated(steps: AbstractSteps, params: PyTree, held_out: Data, score: Score) -> Float[Array, ""]:
    return score(steps.assemble(params), held_out)


def _advance(
    run: _Run,
    steps: AbstractSteps,
    data: Data,
    training: Training,
    rate: Callable[[PyTree], float] | None,
    remedy: str,
) -> bool:
    """Take steps until the next evaluation, and evaluate; True if the watcher asks to stop."""
    count = min(training.evaluate_every, training.num_steps - run.step)
    run.state, record = steps.run(run.state, data, count)
    _check_finite(record, run.step, remedy)
    run.records.append(record)
    run.step += count
    score = None if rate is None else rate(run.state.params)
    if score is not None:
        run.scores.append([run.step, score])
    if score is None or score > run.best_score:
        run.best, run.best_step = run.state.params, run.step
        run.best_score = run.best_score if score is None else score
    progress = Progress(run.step, training.num_steps, float(record["objective"][-1]), score)
    patience = training.patience * training.evaluate_every
    run.stopped = score is not None and run.step - run.best_step >= patience
    return training.must_end(progress)


def _to_leaves(tree: PyTree) -> list[np.ndarray]:
    return [
        np.asarray(jax.random.key_data(leaf) if is_key(leaf) else leaf)
        for leaf in jax.tree.leaves(tree)
    ]


def _from_leaves(leaves: list[np.ndarray], like: T) -> T:
    olds, structure = jax.tree.flatten(like)
    pairs = list(zip(leaves, _to_leaves(like), strict=True))
    if any((new.shape, new.dtype) != (old.shape, old.dtype) for new, old in pairs):
        raise ValueError("leaves of another tree")
    if any(new.dtype.kind == "f" and np.isnan(new).any() for new in leaves):
        raise ValueError("leaves that are not numbers")
    return jax.tree.unflatten(
        structure,
        [
            _as_key(new, old) if is_key(old) else jnp.asarray(new)
            for new, old in zip(leaves, olds, strict=True)
        ],
    )


def _as_key(data: np.ndarray, like: PRNGKeyArray) -> PRNGKeyArray:
    return jax.random.wrap_key_data(jnp.asarray(data), impl=jax.random.key_impl(like))


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


def _history(run: _Run) -> History:
    steps = {name: values for name, values in _joined(run.records).items() if name != "finite"}
    table = np.array(run.scores, dtype=np.float64).reshape(-1, 2)
    return History(steps, table[:, 0].astype(int), table[:, 1], run.best_step)


def _joined(records: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    names = records[0] if records else {}
    return {name: np.concatenate([record[name] for record in records]) for name in names}
