"""L-BFGS and Adam for the weights of a network, in NumPy."""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from gfsvi.plain.networks import TanhNetwork
from gfsvi.training.history import History
from gfsvi.training.settings import Content, Progress, Training

Matrices: TypeAlias = list[np.ndarray]
Objective: TypeAlias = Callable[[TanhNetwork], tuple[float, Matrices]]
"""A value to maximise, and its derivatives by the weights."""

DECAY_FIRST, DECAY_SECOND, SMALL = 0.9, 0.999, 1e-8
WARM_UP = 50
DECAY_AVERAGE = 0.99
"""Of an average of the weights of the last steps, which is what held-out rows score: the steps go
to and fro around it until their rate is small, and often few of them are best."""


class Descent(NamedTuple):
    """An objective per step, the number of steps and the largest learning rate."""

    objective: Callable[[int], Objective]
    num_steps: int
    learning_rate: float

    def rate(self, step: int) -> float:
        """The learning rate of a step: up over the first steps, then down along a cosine."""
        warm = min(1.0, (step + 1) / min(WARM_UP, max(1, self.num_steps // 10)))
        return self.learning_rate * warm * 0.5 * (1 + math.cos(math.pi * step / self.num_steps))


def lbfgs(
    network: TanhNetwork, objective: Objective, training: Training
) -> tuple[TanhNetwork, History]:
    """Maximise an objective that is the same at every step."""
    from scipy.optimize import minimize  # takes a second to import

    shapes = [matrix.shape for matrix in network.matrices]
    objectives: list[float] = []
    checkpoint = None if training.checkpoint is None else training.checkpoint()
    found = None if checkpoint is None else checkpoint.load()

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradients = objective(TanhNetwork(_matrices(vector, shapes)))
        return -value, -np.concatenate([gradient.ravel() for gradient in gradients])

    def watched(intermediate_result) -> None:
        objectives.append(-float(intermediate_result.fun))
        if _is_told_to_stop(training, len(objectives), training.num_steps, objectives[-1], None):
            raise StopIteration

    if found is None:
        first = np.concatenate([matrix.ravel() for matrix in network.matrices])
        limits = {"maxiter": training.num_steps, "maxfun": 2 * training.num_steps + 10}
        options = {**limits, "ftol": 0.0, "gtol": 0.0}
        result = minimize(
            loss, first, jac=True, method="L-BFGS-B", callback=watched, options=options
        )
        found = {"vector": result.x, "objectives": np.array(objectives)}
        if checkpoint is not None:
            checkpoint.save(found, finished=True)
    record = np.asarray(found["objectives"])
    history = History({"objective": record}, np.zeros(0, int), np.zeros(0), len(record))
    return TanhNetwork(_matrices(np.asarray(found["vector"]), shapes)), history


class _State(NamedTuple):
    """The state of Adam, the average of the latest weights, and the best average so far."""

    step: int
    matrices: Matrices
    first: Matrices
    second: Matrices
    average: Matrices
    best: Matrices
    best_step: int
    objectives: list[float]
    scores: list[float]

    @classmethod
    def begun(cls, network: TanhNetwork) -> "_State":
        matrices = [matrix.astype(np.float32) for matrix in network.matrices]
        zeros = [np.zeros_like(matrix) for matrix in matrices]
        return cls(0, matrices, zeros, [z.copy() for z in zeros], matrices, matrices, 0, [], [])

    def content(self) -> Content:
        """The state as arrays and numbers, for a checkpoint."""
        record = {"objectives": np.array(self.objectives), "scores": np.array(self.scores)}
        return {**self._asdict(), **record}

    @classmethod
    def of(cls, content: Content) -> "_State":
        lists = {"objectives": list(content["objectives"]), "scores": list(content["scores"])}
        # Checkpoints of earlier versions have no average.
        return cls(**{"average": content["matrices"], **content, **lists})


def adam(
    network: TanhNetwork,
    descent: Descent,
    training: Training,
    score: Callable[[TanhNetwork], float] | None,
) -> tuple[TanhNetwork, History]:
    """Maximise objectives that differ from step to step; the best of averaged weights counts.

    Without a score, the last weights do.
    """
    checkpoint = None if training.checkpoint is None else training.checkpoint()
    known = None if checkpoint is None else checkpoint.load()
    state = _State.begun(network) if known is None else _State.of(known)
    every = training.evaluate_every
    is_finished = state.step >= descent.num_steps
    while not is_finished:
        state = _advanced(state, descent, min(every, descent.num_steps - state.step), score)
        latest = state.scores[-1] if state.scores else None
        told = (training, state.step, descent.num_steps, state.objectives[-1], latest)
        is_finished = _is_told_to_stop(*told, always=True) or state.step >= descent.num_steps
        if checkpoint is not None:
            checkpoint.save(state.content(), finished=is_finished)
    steps = every * (1 + np.arange(len(state.scores)))
    record = {"objective": np.asarray(state.objectives)}
    history = History(record, steps, np.asarray(state.scores), state.best_step)
    best = state.best if score is not None else state.matrices
    return TanhNetwork(tuple(matrix.astype(np.float64) for matrix in best)), history


def _advanced(
    state: _State,
    descent: Descent,
    num_steps: int,
    score: Callable[[TanhNetwork], float] | None,
) -> _State:
    matrices, first, second, average = ([m.copy() for m in part] for part in state[1:5])
    objectives = list(state.objectives)
    for step in range(state.step, state.step + num_steps):
        value, gradients = descent.objective(step)(TanhNetwork(tuple(matrices)))
        objectives.append(value)
        _move(matrices, first, second, gradients, descent.rate(step), step + 1)
        _follow(average, matrices, step + 1)
    step, scores = state.step + num_steps, state.scores
    best, best_step = state.best, state.best_step
    if score is not None:
        latest = score(TanhNetwork(tuple(average)))
        if not scores or latest > max(scores):
            best, best_step = average, step
        scores = [*scores, latest]
    return _State(step, matrices, first, second, average, best, best_step, objectives, scores)


def _move(
    matrices: Matrices, first: Matrices, second: Matrices, gradients: Matrices, rate: float, n: int
) -> None:
    """One step upwards, in place."""
    size = rate * math.sqrt(1 - DECAY_SECOND**n) / (1 - DECAY_FIRST**n)
    for matrix, m, v, gradient in zip(matrices, first, second, gradients, strict=True):
        m += (1 - DECAY_FIRST) * (gradient - m)
        v += (1 - DECAY_SECOND) * (gradient**2 - v)
        matrix += size * m / (np.sqrt(v) + SMALL)


def _follow(average: Matrices, matrices: Matrices, n: int) -> None:
    """Move an average towards the weights after step n, in place; the first ones fade sooner."""
    kept = min(DECAY_AVERAGE, n / (n + 9))
    for mean, matrix in zip(average, matrices, strict=True):
        mean += (1 - kept) * (matrix - mean)


def _is_told_to_stop(
    training: Training,
    step: int,
    num_steps: int,
    objective: float,
    score: float | None,
    *,
    always: bool = False,
) -> bool:
    if step % training.evaluate_every and not always:  # a step of a large network takes a second
        return training.is_late
    return training.must_end(Progress(step, num_steps, objective, score))


def _matrices(vector: np.ndarray, shapes: list[tuple[int, ...]]) -> tuple[np.ndarray, ...]:
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(vector, ends[:-1])
    return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))
