"""Generalised function-space variational inference: a Gaussian-process prior on any network."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.covariances.base import AbstractCovariance
from gfsvi.covariances.kronecker import Kronecker
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, correlation_lengths
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference.calibration import (
    AbstractCalibration,
    MostProbable,
    compile_calibration,
    fixed_by_prior,
)
from gfsvi.inference.divergences import regularized_divergence
from gfsvi.inference.elbo import Elbo, Plan, maximize_elbo, validation_score
from gfsvi.inference.initialization import MAX_SCALED_FEATURES, random_start
from gfsvi.inference.mean_fit import AbstractMeanFit, AutoMean, MeanProblem, draw_points
from gfsvi.inference.models import K, LinearizedModel
from gfsvi.inference.outputs import check_outputs, some_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.compilation import compile_now, filled
from gfsvi.numerics.precision import double
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.history import Fit
from gfsvi.training.loop import compile_ahead
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training
from gfsvi.training.steps import Parts, Where
from gfsvi.values import as_gaussian

MAX_ROWS_AS_POINTS = 400


class Subsampling(eqx.Module):
    """Draws and outputs that a training step uses in place of all of them.

    Args:
        num_samples: Number of functions to draw from the posterior at the rows of a step, for
            networks with too many outputs and weights for the marginals; None for the marginals.
        num_outputs: Number of outputs, chosen at random, to compare with the prior per step;
            None for all.
    """

    num_samples: int | None = eqx.field(static=True, default=None)
    num_outputs: int | None = eqx.field(static=True, default=None)


class GFSVI(AbstractMethod[AbstractRandomFunction]):
    """Fit a linearised network to data under a prior over functions.

    The paper's Algorithm 1 is `gfsvi.auto.recipe.PAPER.method`; the defaults depart from it by a
    Kronecker-factored covariance, training inputs among the measurement points, a mean that is
    fitted before the covariance, and noise set by held-out rows.

    Args:
        network: Any network; its outputs must match the likelihood.
        covariance: The family of Gaussians over its weights.
        points: Measurement points, where prior and posterior are compared; by default training
            inputs and points in a box around them.
        gamma: The regulariser; larger values weaken the prior.
        mean: How to fit the mean before the covariance; None to train everything at once.
        training: Steps and optimiser.
        calibration: How held-out rows, if given, set the noise; noise fitted to training rows is
            too small for new rows.
        subsampling: Draws and outputs to use per training step if there are many outputs.
        dtype: Precision of the network; the linear algebra is always float64.
        fixed: Picks the parts of the model that stay fixed,
            for example `lambda model: model.likelihood`.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = AbstractRandomFunction

    network: AbstractNetwork = MLP()
    covariance: AbstractCovariance = Kronecker()
    points: AbstractPoints | None = None
    gamma: float = eqx.field(static=True, default=1e-10)
    mean: AbstractMeanFit | None = AutoMean()
    training: Training = eqx.field(
        static=True,
        default=Training(
            num_steps=100, optimizer=Adam(2e-2, max_step_multiplier=4), evaluate_every=10
        ),
    )
    calibration: AbstractCalibration = MostProbable()
    subsampling: Subsampling = Subsampling()
    dtype: DTypeLike = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self,
        model: Model[AbstractRandomFunction, K],
        data: Data,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
        start: LinearizedModel[K] | None = None,
    ) -> Fit[LinearizedModel[K]]:
        """Fit to `data`, starting from `start` (an earlier posterior) if given."""
        init_key, train_key = jax.random.split(key)
        check_outputs(model, data, self.network)
        if start is None:
            start = self.initial(model, data, key=init_key, validation=validation)
        plan = Plan(
            self._with_samples(start),
            Elbo(self.divergence(model.function, data)),
            remedy=f"gamma is {self.gamma:g}: raise it tenfold, lower the learning rate, "
            "or use dtype=jnp.float64.",
        )
        method = self._paced_for(start, model, data)
        fit = maximize_elbo(method, plan, model, data, key=train_key, validation=validation)
        return Fit(_with_marginals(fit.posterior), fit.history)

    @double
    def precompile(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> None:
        """Compile the stages of a fit from shapes alone, without running them."""
        lengths = jnp.ones(np.shape(data.x)[1]) if _has_lengths(data) else None
        blank = eqx.filter_eval_shape(lambda k: self._blank(model, data, k, lengths), key)
        problem = self._mean_problem(model, data)
        if self.mean is not None:
            self.mean.precompile(blank, problem, key=key, validation=validation)
        x = filled(
            eqx.filter_eval_shape(draw_points, problem.points, jnp.asarray(data.x), key), key
        )
        options = (self.network, self.covariance, x, self.dtype, lengths)
        compile_now(random_start, LinearizedNetwork, *options, key=key)
        compile_ahead(
            Elbo(self.divergence(model.function, data)),
            self._with_samples(blank),
            data,
            self._paced_for(blank, model, data).training,
            key=key,
            fixed=fixed_by_prior if self.fixed is None else self.fixed,
            validation=validation,
            score=validation_score,
        )
        if validation is not None and self.fixed is None and self.calibration.compiles:
            compile_calibration(blank, validation, key=key)

    @double
    def initial(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> LinearizedModel:
        """The posterior before training: a small covariance around a fitted mean.

        The random network it starts from varies on the length scales of the prior.
        """
        blank_key, mean_key = jax.random.split(key)
        lengths = correlation_lengths(model.function, data.x) if _has_lengths(data) else None
        blank = self._blank(model, data, blank_key, lengths)
        if self.mean is None:
            return blank
        problem = self._mean_problem(model, data)
        return self.mean(blank, problem, key=mean_key, validation=validation)

    def divergence(self, prior: AbstractRandomFunction, data: Data) -> "RegularizedKL":
        """The divergence from this prior, with measurement points bound to these data."""
        points = default_points(len(data)) if self.points is None else self.points
        return RegularizedKL(prior, points.bind(data.x), self.gamma, self.subsampling.num_outputs)

    def _blank(
        self, model: Model, data: Data, key: PRNGKeyArray, lengths: Float[Array, " feature"] | None
    ) -> LinearizedModel:
        start_key, points_key = jax.random.split(key)
        points = self.divergence(model.function, data).points
        x = draw_points(points, jnp.asarray(data.x), points_key)
        options = (self.network, self.covariance, x, self.dtype, lengths)
        return Model(random_start(LinearizedNetwork, *options, key=start_key), model.likelihood)

    def _mean_problem(self, model: Model, data: Data) -> MeanProblem:
        points = self.divergence(model.function, data).points
        return MeanProblem(model.function, points, self.gamma, data)

    def _paced_for(self, start: LinearizedModel, model: Model, data: Data) -> "GFSVI":
        """This method with a lower learning rate for a mean and noise that are fitted already."""
        optimizer = self.training.optimizer
        if self.mean is None or not isinstance(optimizer, Adam):
            return self
        if not self.mean.chosen_for(start, self._mean_problem(model, data)).holds_mean:
            return self
        slowed = dataclasses.replace(optimizer, slow=_fitted_already)
        training = dataclasses.replace(self.training, optimizer=slowed)
        return dataclasses.replace(self, training=training)

    def _with_samples(self, model: LinearizedModel) -> LinearizedModel:
        return _with_marginals(model, self.subsampling.num_samples)


class RegularizedKL(eqx.Module):
    """The regularised KL at measurement points drawn anew at every step."""

    prior: AbstractRandomFunction
    points: AbstractPoints
    gamma: float = eqx.field(static=True)
    num_outputs: int | None = eqx.field(static=True, default=None)

    def __call__(
        self, model: LinearizedModel, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], Parts]:
        x = self.points.draw(batch.x, key=key)
        prior = as_gaussian(self.prior.at(x))
        total = len(prior.mean)
        # The sum of the outputs' divergences: lower than the joint divergence if the posterior
        # correlates outputs, which the paper ignores as well.
        chosen = some_outputs(self.num_outputs, total, key=jax.random.fold_in(key, 1))
        if chosen is None:
            posterior, times = model.function.at(x), 1.0
        else:
            posterior = model.function.at(x, outputs=jnp.eye(total)[chosen])
            prior, times = prior.of_outputs(chosen), total / len(chosen)
        divergence = regularized_divergence(posterior, prior, gamma=self.gamma)
        return times * divergence.value, {"smallest_pivot": divergence.smallest_pivot}


def default_points(num_rows: int) -> AbstractPoints:
    """Training inputs, up to a maximum number, and 100 points uniform in a box around them."""
    rows = FixedPoints() if num_rows <= MAX_ROWS_AS_POINTS else BatchRows(MAX_ROWS_AS_POINTS)
    return Mixture((rows, UniformBox(100)))


def _with_marginals(model: LinearizedModel, num_samples: int | None = None) -> LinearizedModel:
    """The model with its function represented by marginals, or by this many draws."""
    function = dataclasses.replace(model.function, num_samples=num_samples)
    return Model(function, model.likelihood)


def _has_lengths(data: Data) -> bool:
    return np.ndim(data.x) == 2 and np.shape(data.x)[1] <= MAX_SCALED_FEATURES


def _fitted_already(model: LinearizedModel) -> PyTree:
    return model.function.params, model.likelihood
