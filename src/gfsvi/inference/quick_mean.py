"""A fit of the mean in NumPy, to be followed by the closed form."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray
from scipy.linalg import cho_solve, cholesky

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.means import Zero
from gfsvi.inference.mean_fit import AbstractMeanFit, MeanProblem
from gfsvi.inference.models import LinearizedModel as Linearized
from gfsvi.inference.quick_steps import Descent, adam, lbfgs
from gfsvi.inference.row_slopes import RowSlopes, row_slopes
from gfsvi.inference.streamed_mean import streamed_descent
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.model import Model
from gfsvi.networks.in_numpy import tanh_network
from gfsvi.numerics.randomness import generator
from gfsvi.plain.networks import TanhNetwork
from gfsvi.points import AbstractPoints, FixedPoints
from gfsvi.streams.stream import Stream
from gfsvi.training.history import Fit, History
from gfsvi.training.optimizers import LBFGS, Adam, FullBatchUpTo
from gfsvi.training.settings import Training

DELTA = 1e-5
"""Of the prior's variance: rougher functions than the prior's are allowed this far, so that steps
are not blocked by directions in which a smooth prior has no variance."""
MAX_POINTS, STREAMED_POINTS = 400, 128
"""Of the prior in a step on a batch of rows, and of rows that are read from a stream."""
MAX_SCORED, STEPS_PER_SCORE = 4000, 100
"""Held-out rows that score the mean, and steps between two scores, if rows come from a stream."""


class QuickMean(AbstractMeanFit):
    """Few steps on the likelihood and the distance to the prior, in NumPy.

    The closed form then moves the mean at the measurement points to where the objective has its
    maximum, so that the network has to come near only. For multilayer perceptrons with tanh under
    an RBF or Matern kernel, and likelihoods that are normal on some scale or of labels.

    Args:
        training: The number of steps of L-BFGS on all rows.
        optimizer: How many rows there may be for that, and what is used for more of them.
        num_batches: The number of steps on batches if there are more.
        num_streamed: The number of steps on rows that are read from a stream; None for as many as
            three passes take.
    """

    holds_mean: ClassVar[bool] = True

    training: Training = eqx.field(
        static=True, default=Training(num_steps=200, optimizer=LBFGS(), evaluate_every=20)
    )
    optimizer: FullBatchUpTo = eqx.field(
        static=True, default=FullBatchUpTo(2000, Adam(1e-2, batch_size=500))
    )
    num_batches: int = eqx.field(static=True, default=4000)
    num_streamed: int | None = eqx.field(static=True, default=None)

    @staticmethod
    def handles(start: Linearized, problem: MeanProblem) -> bool:
        """Whether everything that this fit needs has a form in NumPy."""
        prior, function = problem.prior, start.function
        return (
            isinstance(prior, GaussianProcess)
            and np.ndim(problem.data.x) == 2
            and kernel_in_numpy(prior.kernel) is not None
            and tanh_network(function.network, function.params) is not None
            and row_slopes(start.likelihood, problem.data.take(np.arange(1)), prior.outputs)
            is not None
        )

    def __call__(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> Fit[Linearized]:
        network = tanh_network(start.function.network, start.function.params)
        if network is None or not self.handles(start, problem):
            raise ValueError(
                "QuickMean expects a multilayer perceptron with tanh, an RBF or Matern kernel and "
                "a likelihood of labels or with normal noise; got others. Use TrainedMean."
            )
        found, history = self._descended(network, start, problem, generator(key), validation)
        leaves, structure = jax.tree.flatten(start.function.params)
        params = [m.astype(leaf.dtype) for m, leaf in zip(found.matrices, leaves, strict=True)]
        function = dataclasses.replace(start.function, params=jax.tree.unflatten(structure, params))
        return Fit(Model(function, start.likelihood), history)

    def precompile(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> None:
        pass

    def chosen_for(self, start: Linearized, problem: MeanProblem) -> "QuickMean":
        return self

    def _descended(
        self,
        network: TanhNetwork,
        start: Linearized,
        problem: MeanProblem,
        random: np.random.Generator,
        validation: Data | None,
    ) -> tuple[TanhNetwork, History]:
        outputs = network.matrices[-1].shape[1]
        slopes = _slopes(start, problem.data, outputs)
        x = np.asarray(problem.data.x, np.float64)
        points = _fixed(problem.points, x)
        if problem.stream is not None:
            return self._streamed(network, start, problem, problem.stream, points, validation)
        if len(x) <= self.optimizer.max_rows:
            objective = Penalized.of(problem.prior, x, points, slopes)
            return lbfgs(network, objective, self.training)
        descent = self._on_batches(problem, x, points, slopes, random)
        score = None if validation is None else _score(start, validation, outputs)
        return adam(network, descent, self.training, score)

    def _streamed(
        self,
        network: TanhNetwork,
        start: Linearized,
        problem: MeanProblem,
        stream: Stream,
        points: np.ndarray,
        validation: Data | None,
    ) -> tuple[TanhNetwork, History]:
        """Steps on batches of rows that are not in memory."""
        outputs = network.matrices[-1].shape[1]
        some = np.linspace(0, len(points) - 1, min(len(points), STREAMED_POINTS)).astype(int)
        none = _slopes(start, problem.data.take(np.arange(0)), outputs)
        at_points = Penalized.of(problem.prior, points[:0], points[some], none).in_float32()
        rate = self.optimizer.otherwise.learning_rate
        descent = streamed_descent(start.likelihood, stream, at_points, rate, outputs)
        if self.num_streamed is not None:
            descent = descent._replace(num_steps=self.num_streamed)
        few = None if validation is None else validation.thinned(MAX_SCORED)
        score = None if few is None else _score(start, few, outputs)
        training = dataclasses.replace(self.training, evaluate_every=STEPS_PER_SCORE)
        return adam(network, descent, training, score)

    def _on_batches(
        self,
        problem: MeanProblem,
        x: np.ndarray,
        points: np.ndarray,
        slopes: RowSlopes,
        random: np.random.Generator,
    ) -> Descent:
        """Batches of rows, each with the prior at the same few measurement points."""
        inner = self.optimizer.otherwise
        few = points[np.sort(random.permutation(len(points))[:MAX_POINTS])]
        seeds = random.integers(2**32, size=2)
        batch = min(inner.batch_size, len(x))
        per_pass = len(x) // batch
        whole = Penalized.of(problem.prior, x[:0], few, slopes.take(np.arange(0)))

        def objective(step: int) -> Penalized:
            number, place = divmod(step, per_pass)
            order = np.random.default_rng([*seeds, number]).permutation(len(x))
            rows = order[place * batch : (place + 1) * batch]
            return whole.with_rows(x[rows], slopes.take(rows), len(x) / batch)

        return Descent(objective, self.num_batches, inner.learning_rate)


class Penalized(NamedTuple):
    """The log-likelihood of rows minus half the squared distance to the prior at points."""

    x: np.ndarray
    at_rows: np.ndarray
    at_points: np.ndarray
    slopes: RowSlopes
    scale: float
    prior_mean: np.ndarray | float
    precision: np.ndarray

    @classmethod
    def of(
        cls, prior: AbstractRandomFunction, x: np.ndarray, points: np.ndarray, slopes: RowSlopes
    ) -> "Penalized":
        """Evaluate rows that are points, or copies of each other, once."""
        both, place = np.unique(np.concatenate([points, x]), axis=0, return_inverse=True)
        place = np.ravel(place)
        kernel = composed_in_numpy(prior.kernel) if isinstance(prior, GaussianProcess) else None
        if kernel is None or not isinstance(prior, GaussianProcess):
            raise ValueError("expected a kernel that NumPy can evaluate; got another.")
        cov = kernel.gram(points)
        cov[np.diag_indices_from(cov)] += DELTA * np.mean(np.diagonal(cov))
        factor = cholesky(cov, lower=True, check_finite=False)
        precision = cho_solve((factor, True), np.eye(len(points)), check_finite=False)
        mean = 0.0 if isinstance(prior.mean, Zero) else np.asarray(prior.mean.at(points)).T
        at_points, at_rows = np.split(place, [len(points)])
        return cls(both, at_rows, at_points, slopes, 1.0, mean, precision)

    def with_rows(self, x: np.ndarray, slopes: RowSlopes, scale: float) -> "Penalized":
        """The same points with other rows, whose likelihood counts `scale` times."""
        first = len(self.x)
        return self._replace(
            x=np.concatenate([self.x, x]).astype(np.float32),
            at_rows=np.arange(first, first + len(x)),
            slopes=slopes,
            scale=scale,
        )

    def in_float32(self) -> "Penalized":
        """The same with inputs in single precision."""
        return self._replace(x=self.x.astype(np.float32))

    def __call__(self, network: TanhNetwork) -> tuple[float, list[np.ndarray]]:
        """The objective, and its derivatives by the weights."""
        activations = network.activations(self.x)
        f = activations[-1]
        fit, by_rows = self.slopes(f[self.at_rows])
        distance = f[self.at_points] - self.prior_mean
        pulled = self.precision @ distance
        by_outputs = np.zeros_like(f)
        np.add.at(by_outputs, self.at_rows, self.scale * by_rows)
        by_outputs[self.at_points] -= pulled
        value = self.scale * fit - 0.5 * float(np.sum(distance * pulled))
        return value, network.gradient(activations, by_outputs)


def _fixed(points: AbstractPoints, x: np.ndarray) -> np.ndarray:
    """The measurement points, drawn once if they are random."""
    if isinstance(points, FixedPoints):
        return np.asarray(points.x, np.float64)
    return np.asarray(points.draw(jnp.asarray(x), key=jax.random.key(0)), np.float64)


def _slopes(start: Linearized, data: Data, outputs: int) -> RowSlopes:
    slopes = row_slopes(start.likelihood, data, outputs)
    if slopes is None:
        raise ValueError(f"expected a likelihood of labels or normal noise; got {start.likelihood}")
    return slopes


def _score(start: Linearized, validation: Data, outputs: int) -> Callable[[TanhNetwork], float]:
    """The mean log-likelihood of held-out rows at the mean function, up to a constant."""
    slopes = _slopes(start, validation, outputs)
    x = np.asarray(validation.x, np.float64)
    return lambda network: slopes(network.activations(x)[-1])[0] / len(x)
