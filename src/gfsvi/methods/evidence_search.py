"""Choose a prior by its evidence with a quasi-Newton method, in NumPy where that is possible."""

import dataclasses
from typing import ClassVar, cast

import equinox as eqx
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.length_prior import LengthPrior
from gfsvi.inference.models import GPModel, K
from gfsvi.inference.unknowns import Unknowns, is_in_numpy
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.likelihoods.base import has_noise
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.numerics.randomness import generator
from gfsvi.numerics.threads import limit_threads
from gfsvi.training.history import Fit, History
from gfsvi.training.optimizers import LBFGS
from gfsvi.training.settings import Progress, Training

IMPOSSIBLE = 1e10
FTOL = 1e-5
"""The search ends when a step changes the evidence per row by less than this share."""
SHORTER = 4.0
"""By how much length scales are shorter in the second start."""


class EvidenceSearch(AbstractMethod[GaussianProcess]):
    """Maximise the log marginal likelihood, and the prior of length scales, by L-BFGS.

    Kernel families are compared on a few rows: the first from two starts, the others from the
    parameters that suit the first. The best is then fitted to more rows. Other likelihoods than
    normal ones are approximated as in `EmpiricalBayes`. Equal rows are one row that counts more
    than others, as a row of that weight does: as several rows, they would make the noise look
    smaller than it is.

    Args:
        kernels: Kernel families to choose from, in addition to the model's own.
        training: Steps per family; its optimiser is not used.
        few_rows: The number of rows on which families are compared.
        max_rows: The number of rows for the best family.
        lengths: What is thought of length scales before the rows are seen; None to maximise the
            evidence alone.
        otherwise: Used for kernels other than RBF and Matern, for mean functions, images, and
            likelihoods with parameters other than noise and warp.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    kernels: tuple[AbstractKernel, ...] = ()
    training: Training = eqx.field(
        static=True, default=Training(num_steps=60, optimizer=LBFGS(), evaluate_every=5)
    )
    few_rows: int = eqx.field(static=True, default=250)
    max_rows: int = eqx.field(static=True, default=1000)
    lengths: LengthPrior | None = LengthPrior()
    otherwise: EmpiricalBayes = EmpiricalBayes()

    @double
    def __call__(
        self, model: GPModel[K], data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit[GPModel[K]]:
        self.check_prior(model)
        model.likelihood.check(np.asarray(data.y))
        families = [model.function.kernel, *self.kernels]
        models = [_with_kernel(model, kernel) for kernel in families]
        if not all(is_in_numpy(one, np.asarray(data.x)) for one in models):
            method = dataclasses.replace(self.otherwise, kernels=self.kernels)
            return method(model, data, key=key, validation=validation)
        with limit_threads(self.max_rows):
            return self._best(models, self._shuffled(data, model, key))

    def _best(self, models: list[GPModel], rows: "_Rows") -> Fit[GPModel]:
        bounds = Unknowns(models[0], rows.x, rows.y).bounds
        few = rows[: self.few_rows]
        starts = (models[0], _shortened(models[0]))
        first = max((self._searched(start, few, bounds) for start in starts), key=_objective)
        fits = [first]
        for other in models[1:]:
            start = _with_kernel(first.posterior, other.function.kernel, like=first.posterior)
            fits.append(self._searched(start, few, bounds))
        best = max(fits, key=_objective)
        if len(rows) > self.few_rows:
            best = self._searched(best.posterior, rows[: self.max_rows], bounds)
        return best

    def _shuffled(self, data: Data, model: GPModel, key: PRNGKeyArray) -> "_Rows":
        if has_noise(model.likelihood):  # which duplicate rows would shrink
            data = data.merged()
        weights = np.asarray(data.row_weights, np.float64)
        x, y = np.asarray(data.x, np.float64), np.asarray(data.y)
        order = generator(key).permutation(len(x))
        return _Rows(x[order], y[order], weights[order])

    def _searched(self, model: GPModel, rows: "_Rows", bounds: np.ndarray) -> Fit[GPModel]:
        weights = rows.weights / np.mean(rows.weights)
        unknowns = Unknowns(model, rows.x, rows.y, weights, self.lengths)
        checkpoint = None if self.training.checkpoint is None else self.training.checkpoint()
        found = None if checkpoint is None else checkpoint.load()
        if found is None:
            vector, objectives = _maximized(unknowns, bounds, self.training)
            found = {"vector": vector, "objectives": objectives}
            if checkpoint is not None:
                checkpoint.save(found, finished=True)
        objectives = np.asarray(found["objectives"])
        history = History({"objective": objectives}, np.zeros(0, int), np.zeros(0), len(objectives))
        return Fit(unknowns.at(np.asarray(found["vector"])), history)


class _Rows(eqx.Module):
    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, rows: slice) -> "_Rows":
        return _Rows(self.x[rows], self.y[rows], self.weights[rows])


def _with_kernel(model: GPModel, kernel: AbstractKernel, like: GPModel | None = None) -> GPModel:
    """The model with this kernel, which takes its parameters from that of another model."""
    if like is not None:
        known = cast(AbstractStationaryKernel, like.function.kernel)
        kernel = dataclasses.replace(kernel, lengthscale=known.lengthscale, variance=known.variance)
    return Model(dataclasses.replace(model.function, kernel=kernel), model.likelihood)


def _objective(fit: Fit[GPModel]) -> float:
    return float(fit.history.steps["objective"][-1])


def _shortened(model: GPModel) -> GPModel:
    """The model with short length scales: from long ones, fast oscillations look like noise."""
    kernel = cast(AbstractStationaryKernel, model.function.kernel)
    lengthscale = np.asarray(kernel.lengthscale) / SHORTER
    return _with_kernel(model, dataclasses.replace(kernel, lengthscale=lengthscale))


def _maximized(
    unknowns: Unknowns, bounds: np.ndarray, training: Training
) -> tuple[np.ndarray, np.ndarray]:
    """The best parameters, and the evidence per row after each step."""
    from scipy.optimize import minimize  # takes a second to import

    start = np.clip(unknowns.start, *bounds.T)
    objectives: list[float] = []
    best = [start, np.inf]

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = unknowns.loss(vector)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return IMPOSSIBLE, np.zeros_like(gradient)
        if value < best[1]:
            best[:] = [vector.copy(), value]
        return value, gradient

    def watched(intermediate_result: object) -> None:
        objectives.append(-best[1])
        step = len(objectives)
        if training.watch is None or step % training.evaluate_every:
            return
        if training.watch(Progress(step, training.num_steps, objectives[-1], None)):
            raise StopIteration

    minimize(
        loss,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=watched,
        options={"maxiter": training.num_steps, "ftol": FTOL, "maxcor": 20},
    )
    return best[0], np.array([*objectives, -best[1]])
