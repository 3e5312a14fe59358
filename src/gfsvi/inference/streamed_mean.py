"""The mean of a network on batches of rows that are read from a stream."""

import math

import numpy as np

from gfsvi.data import Data
from gfsvi.inference.on_devices import passes_of
from gfsvi.inference.quick_steps import Descent, Matrices, Objective
from gfsvi.inference.row_slopes import row_slopes
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.numerics.groups import total
from gfsvi.plain.networks import TanhNetwork
from gfsvi.streams.stream import Batches, Stream

BATCH_SIZE = 4096
NUM_PASSES, FEWEST_STEPS = 3, 2000
"""Each row is seen about three times; a smaller table more often."""


def num_steps(num_rows: int) -> int:
    """The number of steps for this many rows."""
    return max(FEWEST_STEPS, math.ceil(NUM_PASSES * num_rows / BATCH_SIZE))


def streamed_descent(
    likelihood: AbstractLikelihood,
    stream: Stream,
    at_points: Objective,
    learning_rate: float,
    outputs: int,
) -> Descent:
    """Steps on batches of a stream, each with the prior at the same measurement points.

    Args:
        likelihood: The likelihood of the rows.
        stream: The rows.
        at_points: How far the network is from the prior, as an objective.
        learning_rate: The largest learning rate.
        outputs: The number of outputs.
    """
    batches = Batches(stream, min(BATCH_SIZE, max(len(stream), 8)))

    def objective(step: int) -> Objective:
        parts = batches.of(step)
        heavier = [
            len(lane) / max(1, len(part)) for lane, part in zip(stream.lanes, parts, strict=True)
        ]
        return lambda network: _whole(network, parts, heavier)

    def _whole(
        network: TanhNetwork, parts: list[Data], heavier: list[float]
    ) -> tuple[float, Matrices]:
        def of_part(number: int) -> np.ndarray:
            return heavier[number] * of_rows(network, parts[number], likelihood, outputs)

        added = total(stream.group, stream.in_threads(of_part, range(len(parts))))
        value, gradients = at_points(network)
        return float(added[0]) + value, _split(added[1:], gradients)

    return Descent(objective, num_steps(len(stream)), learning_rate)


def of_rows(
    network: TanhNetwork, data: Data, likelihood: AbstractLikelihood, outputs: int
) -> np.ndarray:
    """The log-likelihood of rows and its derivatives by all weights, in one vector of float32."""
    slopes = row_slopes(likelihood, data, outputs)
    if slopes is None:
        raise ValueError(f"expected a likelihood of labels or normal noise; got {likelihood}")
    passes = passes_of(network, np.asarray(data.x, np.float32))
    value, by_rows = slopes(passes.outputs())
    gradients = passes.gradient(by_rows.astype(np.float32))
    return np.concatenate([np.array([value], np.float32), *(g.ravel() for g in gradients)])


def _split(vector: np.ndarray, like: Matrices) -> Matrices:
    """The parts of a vector, each added to a matrix."""
    parts = np.split(vector, np.cumsum([matrix.size for matrix in like])[:-1])
    return [part.reshape(m.shape) + m for part, m in zip(parts, like, strict=True)]
