"""Generalised function-space variational inference: a Gaussian-process prior on any network."""

import dataclasses
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.covariances.base import AbstractCovariance, AbstractFamily
from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.covariances.isotropic import Isotropic
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction, correlation_lengths
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.calibration import (
    AbstractCalibration,
    MostProbable,
    compile_calibration,
    fixed_by_prior,
)
from gfsvi.inference.conjugate import Interpolation, tangents_of
from gfsvi.inference.conjugate_fit import closed_form_posterior, has_learnable_noise
from gfsvi.inference.elbo import Elbo, Plan, maximize_elbo, validation_score
from gfsvi.inference.evidence import no_history
from gfsvi.inference.initialization import MAX_SCALED_FEATURES, initial_network, random_start
from gfsvi.inference.mean_fit import AbstractMeanFit, MeanProblem, draw_points
from gfsvi.inference.measurement import (
    NUM_BOX_POINTS,
    RegularizedKL,
    points_among_images,
    points_beside_rows,
)
from gfsvi.inference.models import K, LinearizedModel
from gfsvi.inference.outputs import check_outputs
from gfsvi.inference.representative_rows import further_points, points_with_rows
from gfsvi.inference.tempering import sharpened
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.in_numpy import is_in_numpy
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.compilation import compile_now, filled
from gfsvi.numerics.precision import double
from gfsvi.numerics.randomness import folded
from gfsvi.numerics.threads import limit_threads
from gfsvi.points import AbstractPoints, FixedPoints, UniformBox
from gfsvi.streams.stream import Stream
from gfsvi.training.history import Fit
from gfsvi.training.loop import compile_ahead
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training
from gfsvi.training.steps import Where


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

    By default the mean is trained and everything else computed: the best covariance, the step
    from the trained mean to that of the linearised model, and noise under which rows that are
    left out are most probable. With another family of covariances, the covariance is trained as
    well. The paper's Algorithm 1 is `gfsvi.auto.recipe.PAPER.method`.

    Args:
        network: Any network; its outputs must match the likelihood.
        covariance: `ClosedForm()` to compute the best covariance, which needs a Gaussian-process
            prior, or the family of Gaussians over the weights to train.
        points: Measurement points, where prior and posterior are compared; by default training
            inputs and points in a box around them. `ClosedForm` adds training inputs to those
            that are given.
        gamma: The regulariser; larger values weaken the prior.
        mean: How to fit the mean before the covariance; None to train everything at once.
        training: Steps and optimiser, for a covariance that is trained.
        calibration: How held-out rows, if given, set the noise; None for `MostProbable()` if the
            covariance is trained, and else for noise by leaving rows out.
        subsampling: Draws and outputs to use per training step if there are many outputs, for a
            covariance that is trained.
        dtype: Precision of the network; the linear algebra is always float64.
        fixed: Picks the parts of the model that stay fixed,
            for example `lambda model: model.likelihood`.
        is_over: Asked whether the time for a covariance that is computed is over.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = AbstractRandomFunction

    network: AbstractNetwork = MLP()
    covariance: AbstractFamily = ClosedForm()
    points: AbstractPoints | None = None
    gamma: float = eqx.field(static=True, default=1e-10)
    mean: AbstractMeanFit | None = AutoMean()
    training: Training = eqx.field(
        static=True,
        default=Training(
            num_steps=100, optimizer=Adam(2e-2, max_step_multiplier=4), evaluate_every=10
        ),
    )
    calibration: AbstractCalibration | None = None
    subsampling: Subsampling = Subsampling()
    dtype: DTypeLike = eqx.field(static=True, default=jnp.float32)
    fixed: Where | None = eqx.field(static=True, default=None)
    is_over: Callable[[], bool] | None = eqx.field(static=True, default=None)

    def __check_init__(self) -> None:
        given = (self.training, self.subsampling)
        if isinstance(self.covariance, ClosedForm) and given != _FOR_TRAINED_COVARIANCES:
            raise ValueError(
                "GFSVI expects training and subsampling only for a covariance that is trained; got "
                "covariance=ClosedForm(). Pass covariance=Kronecker(), or mean=TrainedMean(...) "
                "for a training of the mean."
            )

    @double
    def __call__(
        self,
        model: Model[AbstractRandomFunction, K],
        data: Data | Stream,
        *,
        key: PRNGKeyArray,
        validation: Data | None = None,
        start: Model | None = None,
    ) -> Fit[Model[ConjugateNetwork | LinearizedNetwork, K]]:
        """Fit to `data`, starting from the weights of `start` (an earlier posterior) if given."""
        check_outputs(model, data.sample, self.network)
        if isinstance(self.covariance, ClosedForm):
            with limit_threads(len(data)):
                return self._solved(self.covariance, model, data, key, validation, start)
        if not isinstance(data, Data):
            raise ValueError(
                "rows that are read from a stream need a covariance in closed form; got "
                f"{type(self.covariance).__name__}. Pass covariance=ClosedForm()."
            )
        init_key, key = jax.random.split(key)
        if start is None:
            start = self._fitted_mean(model, data, key=init_key, validation=validation).posterior
        return self._trained(start, model, data, key, validation)

    def _trained(
        self, start: Model, model: Model, data: Data, key: PRNGKeyArray, validation: Data | None
    ) -> Fit:
        plan = Plan(
            self._with_samples(start),
            Elbo(self.divergence(model.function, data)),
            remedy=f"gamma is {self.gamma:g}: raise it tenfold, lower the learning rate, "
            "or use dtype=jnp.float64.",
        )
        method = self._paced_for(start, model, data)
        fit = maximize_elbo(method, plan, model, data, key=key, validation=validation)
        return Fit(_with_marginals(fit.posterior), fit.history)

    def _solved(
        self,
        family: ClosedForm,
        model: Model,
        rows: Data | Stream,
        key: PRNGKeyArray,
        validation: Data | None,
        start: Model | None,
    ) -> Fit:
        """Fit the mean, unless it is given, and compute the posterior around it."""
        prior = model.function
        if not isinstance(prior, GaussianProcess):
            raise ValueError(
                "ClosedForm expects a Gaussian-process prior; got a "
                f"{type(prior).__name__}. Pass covariance=Kronecker() to train the covariance."
            )
        data = rows.sample
        has_images = np.ndim(data.x) > 2
        box = self.divergence(prior, data).points if has_images else self.points
        box = UniformBox(NUM_BOX_POINTS) if box is None else box
        further = further_points(box, data.x, key=folded(key, 0))
        points = points_with_rows(prior, data.x, further, family.max_rows)
        if start is None:
            # Rows that the mean is fitted to and that are no points would be fitted too well.
            most = max(family.max_rows, ClosedForm().max_rows)
            near = further if has_images else points_with_rows(prior, data.x, further, most)
            begun = self._mean_near(near, model, rows, key, validation)
        else:
            begun = Fit(start, no_history())
        params = begun.posterior.function.params
        tangents = tangents_of(self.network, params, prior.outputs)
        tangents = sharpened(tangents, model.likelihood, validation)
        interpolation = Interpolation.at(tangents, prior, points, gamma=self.gamma, eps=family.eps)
        posterior = closed_form_posterior(
            interpolation,
            model,
            rows,
            learn_noise=has_learnable_noise(model, self.fixed),
            validation=validation if has_images or len(rows) > family.max_rows else None,
            stop=self.is_over,
        )
        if self.calibration is not None and validation is not None and self.fixed is None:
            posterior = self.calibration(posterior, validation, key=key, prior=model, data=data)
        return Fit(posterior, begun.history)

    def _mean_near(
        self,
        points: np.ndarray,
        model: Model,
        rows: Data | Stream,
        key: PRNGKeyArray,
        validation: Data | None,
    ) -> Fit[LinearizedModel]:
        """A fit of the mean that the closed form is to improve on."""
        data = rows.sample
        lengths = correlation_lengths(model.function, data.x) if _has_lengths(data) else None
        options = (self.network, Isotropic(), points, self.dtype, lengths)
        function = initial_network(LinearizedNetwork, *options, key=folded(key, 1))
        blank = Model(function, model.likelihood)
        if self.mean is None:
            return Fit(blank, no_history())
        at = FixedPoints(points)
        stream = None if isinstance(rows, Data) else rows
        options = {"then_solved": True, "stream": stream}
        problem = MeanProblem(model.function, at, self.gamma, data, **options)
        if problem.has_images:  # at which the mean is compared with the prior step by step
            problem = self._mean_problem(model, data)
        return self.mean(blank, problem, key=folded(key, 2), validation=validation)

    @double
    def precompile(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> None:
        """Compile the stages of a fit from shapes alone, without running them."""
        if isinstance(self.covariance, ClosedForm) and is_in_numpy(self.network):
            return  # most of such a fit is computed in NumPy
        lengths = jnp.ones(np.shape(data.x)[1]) if _has_lengths(data) else None
        blank = eqx.filter_eval_shape(lambda k: self._blank(model, data, k, lengths), key)
        problem = self._mean_problem(model, data)
        if self.mean is not None:
            self.mean.precompile(blank, problem, key=key, validation=validation)
        x = filled(
            eqx.filter_eval_shape(draw_points, problem.points, jnp.asarray(data.x), key), key
        )
        options = (self.network, self._family, x, self.dtype, lengths)
        compile_now(random_start, LinearizedNetwork, *options, key=key)
        if isinstance(self.covariance, ClosedForm):
            return
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
        calibration = MostProbable() if self.calibration is None else self.calibration
        if validation is not None and self.fixed is None and calibration.compiles:
            compile_calibration(blank, validation, key=key)

    @double
    def initial(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> LinearizedModel:
        """The posterior before training: a small covariance around a fitted mean.

        The random network it starts from varies on the length scales of the prior.
        """
        return self._fitted_mean(model, data, key=key, validation=validation).posterior

    def _fitted_mean(
        self, model: Model, data: Data, *, key: PRNGKeyArray, validation: Data | None
    ) -> Fit[LinearizedModel]:
        blank_key, mean_key = jax.random.split(key)
        lengths = correlation_lengths(model.function, data.x) if _has_lengths(data) else None
        blank = self._blank(model, data, blank_key, lengths)
        if self.mean is None:
            return Fit(blank, no_history())
        problem = self._mean_problem(model, data)
        return self.mean(blank, problem, key=mean_key, validation=validation)

    def divergence(self, prior: AbstractRandomFunction, data: Data) -> RegularizedKL:
        """The divergence from this prior, with measurement points bound to these data."""
        points = self.points
        if np.ndim(data.x) > 2 and isinstance(self.covariance, ClosedForm):
            points = points_among_images() if points is None else points
        elif points is None or isinstance(self.covariance, ClosedForm):
            points = points_beside_rows(len(data), points)
        return RegularizedKL(prior, points.bind(data.x), self.gamma, self.subsampling.num_outputs)

    def _blank(
        self, model: Model, data: Data, key: PRNGKeyArray, lengths: Float[Array, " feature"] | None
    ) -> LinearizedModel:
        start_key, points_key = jax.random.split(key)
        points = self.divergence(model.function, data).points
        x = draw_points(points, jnp.asarray(data.x), points_key)
        options = (self.network, self._family, x, self.dtype, lengths)
        return Model(random_start(LinearizedNetwork, *options, key=start_key), model.likelihood)

    @property
    def _family(self) -> AbstractCovariance:
        """The covariance while the mean is trained, which one that is computed does not need."""
        return self.covariance if isinstance(self.covariance, AbstractCovariance) else Isotropic()

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


_FOR_TRAINED_COVARIANCES = tuple(
    GFSVI.__dataclass_fields__[name].default for name in ("training", "subsampling")
)


def _with_marginals(model: LinearizedModel, num_samples: int | None = None) -> LinearizedModel:
    """The model with its function represented by marginals, or by this many draws."""
    function = dataclasses.replace(model.function, num_samples=num_samples)
    return Model(function, model.likelihood)


def _has_lengths(data: Data) -> bool:
    return np.ndim(data.x) == 2 and np.shape(data.x)[1] <= MAX_SCALED_FEATURES


def _fitted_already(model: LinearizedModel) -> PyTree:
    return model.function.params, model.likelihood
