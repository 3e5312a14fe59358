"""Choose a prior by its evidence with a quasi-Newton method, in NumPy where that is possible."""

import contextlib
import dataclasses
import math
from typing import ClassVar

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.length_prior import LengthPrior
from gfsvi.inference.models import GPModel, K
from gfsvi.inference.unknowns import Unknowns, is_in_numpy
from gfsvi.kernels.base import AbstractKernel, ActiveDimensions
from gfsvi.kernels.one_of import OneOf
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.likelihoods.base import has_noise
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.numerics.constraints import is_learnable
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
    """Maximise log marginal likelihood plus log prior of the length scales, by L-BFGS.

    Kernel families are compared on a few rows: the first from two starts, the others from the
    parameters that suit the first. The best is then fitted to more rows. Other likelihoods than
    normal ones are approximated as in `EmpiricalBayes`. Equal rows are one row that counts more
    than others, as a row of that weight does: as several rows, they would make the noise look
    smaller than it is.

    Args:
        kernels: Kernel families to choose from, in addition to the model's own.
        separate: Kernels of some features. One of them may describe these features and the best
            family all others, whose functions are added, if that is worth its parameters: each
            costs half the logarithm of the number of rows (Schwarz 1978).
        always_separate: Whether one of them is used in any case, as for dates of a time series:
            evidence hardly tells what goes on after the last date from what ends with it.
        training: Steps per family; its optimiser is not used.
        few_rows: The number of rows on which families are compared.
        max_rows: The number of rows for the best family.
        lengths: What is thought of length scales before the rows are seen; None to maximise the
            evidence alone.
        otherwise: Used, without separate kernels, for kernels that have no form in NumPy, for
            mean functions, images, and likelihoods with parameters other than noise and warp.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    kernels: tuple[AbstractKernel, ...] = ()
    separate: tuple[ActiveDimensions, ...] = ()
    always_separate: bool = eqx.field(static=True, default=False)
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

    @double
    def refined(self, model: GPModel[K], data: Data, *, key: PRNGKeyArray) -> GPModel[K]:
        """Search on, for other rows, from the parameters that this model has."""
        with limit_threads(self.max_rows):
            rows = self._shuffled(data, model, key)[: self.max_rows]
            return self._searched(model, rows, model).posterior

    def _best(self, models: list[GPModel], rows: "_Rows") -> Fit[GPModel]:
        few = rows[: self.few_rows]
        first = self._searched(models[0], few, models[0])
        if not self.training.is_late:
            again = self._searched(_shortened(models[0]), few, models[0])
            first = max((first, again), key=_objective)
        found = [(first, models[0])]
        for blank in () if self.training.is_late else models[1:]:
            start = _with_kernel(first.posterior, blank.function.kernel, like=first.posterior)
            found.append((self._searched(start, few, blank), blank))
        best, blank = max(found, key=lambda pair: _objective(pair[0]))
        best, blank = self._separated(best, blank, few)
        if len(rows) > self.few_rows and not self.training.is_late:
            best = self._searched(best.posterior, rows[: self.max_rows], blank)
        return best

    def _separated(
        self, fit: Fit[GPModel], blank: GPModel, rows: "_Rows"
    ) -> tuple[Fit[GPModel], GPModel]:
        """The fit with the separate kernel that is worth most, if one is, and where it began."""
        found = [] if self.separate and self.always_separate else [(fit, blank)]
        for kernel in self.separate:
            start, begun = (
                _with_kernel(model, _beside(model.function.kernel, kernel, rows.x.shape[1]))
                for model in (fit.posterior, blank)
            )
            found.append((self._searched(start, rows, begun), begun))
        return max(found, key=lambda pair: _worth(pair[0], len(rows)))

    def _shuffled(self, data: Data, model: GPModel, key: PRNGKeyArray) -> "_Rows":
        if has_noise(model.likelihood):  # which duplicate rows would shrink
            data = data.merged()
        weights = np.asarray(data.row_weights, np.float64)
        x, y = np.asarray(data.x, np.float64), np.asarray(data.y)
        order = generator(key).permutation(len(x))
        return _Rows(x[order], y[order], weights[order])

    def _searched(self, model: GPModel, rows: "_Rows", blank: GPModel) -> Fit[GPModel]:
        """Search from this model, not too far from a blank one."""
        weights = rows.weights / np.mean(rows.weights)
        unknowns = Unknowns(model, rows.x, rows.y, weights, self.lengths)
        checkpoint = None if self.training.checkpoint is None else self.training.checkpoint()
        found = None if checkpoint is None else checkpoint.load()
        if found is None:
            bounds = Unknowns(blank, rows.x, rows.y).bounds
            vector, objectives = _maximized(unknowns, bounds, self.training)
            found = {"vector": vector, "objectives": objectives}
            if checkpoint is not None:
                checkpoint.save(found, finished=True)
        objectives = np.asarray(found["objectives"])
        history = History({"objective": objectives}, np.zeros(0, int), np.zeros(0), len(objectives))
        return Fit(unknowns.at(np.asarray(found["vector"])), history)


class _TimeIsOver(Exception):
    """Ends a search in the middle of a step."""


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
    known = None if like is None else like.function.kernel
    if isinstance(known, AbstractStationaryKernel) and isinstance(kernel, AbstractStationaryKernel):
        kernel = dataclasses.replace(kernel, lengthscale=known.lengthscale, variance=known.variance)
    return Model(dataclasses.replace(model.function, kernel=kernel), model.likelihood)


def _objective(fit: Fit[GPModel]) -> float:
    return float(fit.history.steps["objective"][-1])


def _shortened(model: GPModel) -> GPModel:
    """The model with short length scales: from long ones, fast oscillations look like noise.

    Kernels that are made of others stay as they are.
    """
    kernel = model.function.kernel
    if not isinstance(kernel, AbstractStationaryKernel) or isinstance(kernel.lengthscale, float):
        return model
    lengthscale = np.asarray(kernel.lengthscale) / SHORTER
    return _with_kernel(model, dataclasses.replace(kernel, lengthscale=lengthscale))


def _beside(
    family: AbstractKernel, separate: ActiveDimensions, num_features: int
) -> AbstractKernel:
    """A kernel of some features, and a family for all others."""
    others = [i for i in range(num_features) if i not in separate.columns]
    if not others:
        return separate
    family = family.kernel if isinstance(family, OneOf) else family
    if isinstance(family, AbstractStationaryKernel) and np.size(family.lengthscale) > 1:
        own = np.asarray(family.lengthscale)[others]
        family = dataclasses.replace(family, lengthscale=own)
    return family.on(*others) + separate


def _worth(fit: Fit[GPModel], num_rows: int) -> float:
    """The evidence less what the parameters of the kernel cost."""
    leaves = jax.tree.leaves(fit.posterior.function.kernel)
    num_parameters = sum(np.size(leaf) for leaf in leaves if is_learnable(leaf))
    evidence = num_rows * _objective(fit)
    return evidence - 0.5 * num_parameters * math.log(num_rows)


def _maximized(
    unknowns: Unknowns, bounds: np.ndarray, training: Training
) -> tuple[np.ndarray, np.ndarray]:
    """The best parameters, and the evidence per row after each step."""
    from scipy.optimize import minimize  # takes a second to import

    start = np.clip(unknowns.start, *bounds.T)
    objectives: list[float] = []
    best = [start, np.inf]

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        if best[1] < np.inf and training.is_late:  # one evaluation may take a second
            raise _TimeIsOver
        value, gradient = unknowns.loss(vector)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return IMPOSSIBLE, np.zeros_like(gradient)
        if value < best[1]:
            best[:] = [vector.copy(), value]
        return value, gradient

    def watched(intermediate_result: object) -> None:
        objectives.append(-best[1])
        step = len(objectives)
        if step % training.evaluate_every:  # a step on a wide table takes a second
            is_over = training.is_late
        else:
            is_over = training.must_end(Progress(step, training.num_steps, objectives[-1], None))
        if is_over:
            raise StopIteration

    with contextlib.suppress(_TimeIsOver):
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
