"""Generalised function-space variational inference: a Gaussian-process prior on any network."""

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance
from gfsvi.covariances.kronecker import Kronecker
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, correlation_lengths
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference import gauss_newton
from gfsvi.inference.calibration import LeftOut, calibrated, compile_calibration, settled
from gfsvi.inference.divergences import regularized_divergence
from gfsvi.inference.elbo import Elbo, validation_score
from gfsvi.inference.initialization import random_start
from gfsvi.inference.mean_fit import MeanObjective, MovingMeanObjective, compile_mean_fit, fit_mean
from gfsvi.inference.outputs import some_outputs
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.compilation import compile_now, compiled_once, filled
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.points import (
    AbstractPoints,
    BatchRows,
    FixedPoints,
    Mixture,
    UniformBox,
    begins_with,
)
from gfsvi.training.history import Fit, History
from gfsvi.training.loop import compile_ahead, maximize
from gfsvi.training.settings import Training
from gfsvi.training.steps import Objective, Where

MAX_SCALED_FEATURES = 256
MAX_COVERED_FEATURES = 3
MAX_ROWS_AS_POINTS = 400
MAX_MEAN_ROWS = 2000


class GFSVI(AbstractMethod):
    """Fit a linearised network to data under a prior on functions (the paper's Algorithm 1).

    Args:
        network: Any network; its outputs must match the likelihood.
        covariance: The family of Gaussians over its weights.
        points: Where prior and posterior are compared; by default training inputs and a box.
        gamma: The regulariser; larger values weaken the prior.
        training: Steps, batches, learning rate.
        dtype: Precision of the network; the linear algebra is float64 always.
        fixed: Picks the parts of the model that stay as they are,
            for example `lambda model: model.likelihood`.
        calibrate: How far validation rows, where given, move the noise from what training rows
            ask for (0) to what maximises their own expected log-likelihood (1): on the training
            rows noise comes out too small for rows that were not trained on. None for the share
            of the way at which they are most probable.
        leave_one_out: Whether, of up to a thousand rows under a Gaussian process, training rows
            that are left out in turn count like validation rows then, which may be few.
        warm_up: How the mean alone is fitted before training, if it is.
        gauss_newton: Whether Gauss-Newton steps do that instead;
            by default for up to three features, where measurement points cover the inputs.
        num_samples: How many functions stand for the posterior at the rows of a step, where
            there are too many outputs and weights for its marginals; None for the marginals.
        num_outputs: Of several outputs, how many are compared with the prior in a step, a random
            choice that stands for all; None for all of them.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = AbstractRandomFunction

    network: AbstractNetwork = MLP()
    covariance: AbstractCovariance = Kronecker()
    points: AbstractPoints | None = None
    gamma: float = eqx.field(static=True, default=1e-10)
    training: Training = eqx.field(
        static=True,
        default=Training(num_steps=150, stretch=4, learning_rate=2e-2, evaluate_every=10),
    )
    dtype: Any = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)
    calibrate: float | None = eqx.field(static=True, default=1.0)
    leave_one_out: bool = eqx.field(static=True, default=True)
    warm_up: Training | None = eqx.field(
        static=True,
        default=Training(
            num_steps=2000,
            stretch=4,
            learning_rate=3e-3,
            all_at_once=20_000,
            evaluate_every=100,
        ),
    )
    gauss_newton: bool | None = eqx.field(static=True, default=None)
    num_samples: int | None = eqx.field(static=True, default=None)
    num_outputs: int | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self,
        model: Model,
        data: Data,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
        start: Model | None = None,
    ) -> Fit:
        """Fit to `data`, from `start` (an earlier posterior) if one is given."""
        init_key, train_key = jax.random.split(key)
        self._check(model, data)
        if start is None:
            start = self.initial(model, data, key=init_key, validation=validation)
        training = self._main_training(start, data)
        posterior, history = self._train(model, start, data, validation, training, train_key)
        if validation is not None and self.fixed is None:
            left_out = LeftOut.of(model, data) if self.leave_one_out else None
            options = {"key": train_key, "left_out": left_out}
            posterior = calibrated(posterior, validation, self.calibrate, **options)
        return Fit(posterior, history)

    @double
    def rehearse(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> None:
        """Compile the stages of a fit from shapes alone: nothing is run."""
        lengths = jnp.ones(np.shape(data.x)[1]) if _has_lengths(data) else None
        blank = eqx.filter_eval_shape(lambda k: self._blank(model, data, k, lengths), key)
        if self._fits_mean(blank, data):
            objective = eqx.filter_eval_shape(lambda k: self._mean_objective(model, data, k), key)
            held_out, warm_up = _for_mean(data, validation), self._mean_training(data)
            compile_mean_fit(blank, objective, data, warm_up, key=key, validation=held_out)
        points = self.divergence(model.function, data).points
        x = filled(eqx.filter_eval_shape(_draw, points, jnp.asarray(data.x), key), key)
        options = (self.network, self.covariance, x, self.dtype, lengths)
        compile_now(random_start, LinearizedNetwork, *options, key=key)
        training = self._main_training(blank, data)
        elbo = Elbo(self.divergence(model.function, data))
        start = _drawn(blank, self.num_samples)
        compile_ahead(elbo, start, data, training, key=key, **self._options(validation))
        if validation is not None and self.fixed is None and not self.leave_one_out:
            compile_calibration(blank, validation, key=key)

    @double
    def initial(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Model:
        """The posterior before training: a small covariance around a mean that fits.

        Random weights vary as fast as the prior does.
        """
        lengths = correlation_lengths(model.function, data.x) if _has_lengths(data) else None
        blank = self._blank(model, data, key, lengths)
        if self._wants_gauss_newton(blank, data):
            return self._gauss_newton(blank, model, data, key)
        if (warm_up := self._mean_training(data)) is None:
            return blank
        objective = self._mean_objective(model, data, key)
        _, _, mean_key = jax.random.split(key, 3)
        held_out = _for_mean(data, validation)
        return fit_mean(blank, objective, data, warm_up, key=mean_key, validation=held_out)

    def _train(
        self,
        model: Model,
        start: Model,
        data: Data,
        validation: Data | None,
        training: Training,
        key: PRNGKeyArray,
    ) -> tuple[Model, History]:
        posterior, history = maximize(
            Elbo(self.divergence(model.function, data)),
            _drawn(start, self.num_samples),
            data,
            training,
            key=key,
            remedy=f"gamma is {self.gamma:g}: raise it tenfold, lower the learning rate, "
            "or use dtype=jnp.float64.",
            **self._options(validation),
        )
        return _drawn(posterior, None), history

    def _options(self, validation: Data | None) -> dict[str, Any]:
        fixed = settled if self.fixed is None else self.fixed
        return {"fixed": fixed, "validation": validation, "score": validation_score}

    def _blank(
        self, model: Model, data: Data, key: PRNGKeyArray, lengths: Float[Array, " feature"] | None
    ) -> Model:
        start_key, points_key, _ = jax.random.split(key, 3)
        x = self._first_points(model, data, points_key)
        options = (self.network, self.covariance, x, self.dtype, lengths)
        return Model(random_start(LinearizedNetwork, *options, key=start_key), model.likelihood)

    def _first_points(self, model: Model, data: Data, key: PRNGKeyArray) -> Points:
        return _draw(self.divergence(model.function, data).points, jnp.asarray(data.x), key)

    def _fits_mean(self, blank: Model, data: Data) -> bool:
        return self.warm_up is not None and not self._wants_gauss_newton(blank, data)

    def _mean_training(self, data: Data) -> Training | None:
        """The warm-up for so many rows; points of images move, which no line search would bear."""
        if self.warm_up is None:
            return None
        moves = np.ndim(data.x) > 2
        warm_up = dataclasses.replace(self.warm_up, all_at_once=0) if moves else self.warm_up
        return warm_up.for_rows(len(data))

    def _mean_objective(self, model: Model, data: Data, key: PRNGKeyArray) -> Objective:
        """Points for the mean alone are factorised once, so they can be more."""
        points = self.divergence(model.function, data).points
        if np.ndim(data.x) > 2:
            return MovingMeanObjective(model.function, points, self.gamma)
        if len(data) > MAX_ROWS_AS_POINTS:
            some = FixedPoints() if len(data) <= MAX_MEAN_ROWS else BatchRows(MAX_MEAN_ROWS)
            points = Mixture((some, UniformBox(100))).bind(data.x)
        _, points_key, _ = jax.random.split(key, 3)
        x = _draw(points, jnp.asarray(data.x), points_key)
        warm_up = self._mean_training(data)
        in_full = warm_up and (warm_up.quasi_newton or warm_up.batch_size >= len(data))
        rows_lead = bool(in_full) and begins_with(points, data.x)
        return MeanObjective.of(model.function, x, self.gamma, rows_lead=rows_lead)

    def _gauss_newton(self, start: Model, model: Model, data: Data, key: PRNGKeyArray) -> Model:
        _, points_key, _ = jax.random.split(key, 3)
        x = self._first_points(model, data, points_key)
        # From a weak prior to the wanted one: a prior of low rank leaves no way otherwise.
        for gamma in np.geomspace(max(1e-3, self.gamma), self.gamma, 4):
            start = gauss_newton.fit_mean(start, model.function, data, x, gamma=gamma, num_steps=20)
        return start

    def _main_training(self, start: Model, data: Data) -> Training:
        """Mean and noise, which were fitted already, move slowly along with the covariance."""
        if not self._fits_mean(start, data):
            return self.training
        return dataclasses.replace(self.training, slow=_fitted_already)

    def _wants_gauss_newton(self, start: Model, data: Data) -> bool:
        covered = np.ndim(data.x) == 2 and np.shape(data.x)[1] <= MAX_COVERED_FEATURES
        wanted = covered if self.gauss_newton is None else self.gauss_newton
        num_points = self.divergence(start.function, data).points.num_points
        return wanted and gauss_newton.is_affordable(start, data, num_points)

    def _check(self, model: Model, data: Data) -> None:
        model.likelihood.check(np.asarray(data.y))
        needed = model.likelihood.num_outputs(data.y)
        x = jnp.asarray(data.x[:1])
        key = jax.random.key(0)
        made = jax.eval_shape(lambda: self.network.apply(self.network.init(x, key=key), x)).shape
        given = jax.eval_shape(lambda: model.function.at(x)).mean.shape[0]
        if made[-1] != needed or given != needed:
            raise ValueError(
                f"{type(model.likelihood).__name__} needs {needed} function outputs for these "
                f"observations; got a network with {made[-1]} and a prior with {given}. "
                f"Set outputs={needed} on both."
            )

    def divergence(self, prior: AbstractRandomFunction, data: Data) -> "RegularizedKL":
        """How the posterior is held to this prior, for these data."""
        points = default_points(len(data)) if self.points is None else self.points
        return RegularizedKL(prior, points.bind(data.x), self.gamma, self.num_outputs)


class RegularizedKL(eqx.Module):
    """The regularised KL at points that are drawn anew at every step."""

    prior: AbstractRandomFunction
    points: AbstractPoints
    gamma: float = eqx.field(static=True)
    num_outputs: int | None = eqx.field(static=True, default=None)

    def __call__(
        self, model: Model, batch: Data, scale: float, *, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        x = self.points.draw(batch.x, key=key)
        prior = self.prior.at(x)
        total = len(prior.mean)
        # Outputs are independent under the prior, so their divergences add up.
        chosen = some_outputs(self.num_outputs, total, key=jax.random.fold_in(key, 1))
        if chosen is None:
            posterior, times = model.function.at(x), 1.0
        else:
            posterior = model.function.at(x, outputs=jnp.eye(total)[chosen])
            prior, times = prior.of_outputs(chosen), total / len(chosen)
        divergence = regularized_divergence(posterior, prior, gamma=self.gamma)
        return times * divergence.value, {"smallest_pivot": divergence.smallest_pivot}


def default_points(num_rows: int) -> AbstractPoints:
    """Training inputs, all of them where they are few, and a fifth as many uniform in a box."""
    if num_rows <= MAX_ROWS_AS_POINTS:
        return Mixture((FixedPoints(), UniformBox(100)))
    return Mixture((BatchRows(400), UniformBox(100)))


def _drawn(model: Model, num_samples: int | None) -> Model:
    """The model whose function is known at the rows of a step by so many draws."""
    function = dataclasses.replace(model.function, num_samples=num_samples)
    return dataclasses.replace(model, function=function)


def _has_lengths(data: Data) -> bool:
    return np.ndim(data.x) == 2 and np.shape(data.x)[1] <= MAX_SCALED_FEATURES


def _for_mean(data: Data, validation: Data | None) -> Data | None:
    """With every row among the points the prior prevents overfitting better than a few rows do."""
    return validation if len(data) > MAX_MEAN_ROWS else None


@compiled_once
def _draw(points: AbstractPoints, x: Points, key: PRNGKeyArray) -> Points:
    return points.draw(x, key=key)


def _fitted_already(model: Model) -> Any:
    return model.function.params, model.likelihood
