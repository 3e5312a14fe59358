"""Linearised Laplace: a Gaussian around the most probable weights of a network."""

import dataclasses
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, State
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.covariances.full import Full
from gfsvi.covariances.rotated_diagonal import RotatedDiagonal
from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.inference.calibration import AbstractCalibration, HeldOut, fixed_by_prior, with_share
from gfsvi.inference.curvature import AbstractCurvature, check_structure, curvature
from gfsvi.inference.models import BNNModel, EnsembleModel, K, LinearizedModel
from gfsvi.inference.point_estimate import LogPosterior, WeightPrior, likelihood_of, random_members
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.networks.base import Params
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.constraints import is_learnable
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit, History
from gfsvi.training.loop import maximize
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Progress, Training

FACTORS = tuple(np.geomspace(1e-2, 1e1, 13))
MAX_STRIDE = 4.0


class Laplace(AbstractMethod[BayesianNetwork]):
    """A Gaussian around the most probable weights, with the curvature there (Immer et al. 2021).

    Prior scales, one per layer, and noise are chosen by marginal likelihood during training.

    Args:
        structure: How much of the curvature to keep: `RotatedDiagonal()` for Kronecker factors,
            `Diagonal()`, `LastLayer()`, or `Full()` for small networks.
        training: Steps, batches and learning rate.
        num_rounds: Number of rounds the steps are divided into; prior scales and noise are
            chosen anew after each round. 0 keeps those of the model.
        calibration: How held-out rows, if given, set the noise.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = BayesianNetwork

    structure: AbstractCovariance = RotatedDiagonal()
    training: Training = eqx.field(
        static=True, default=Training(num_steps=3000, optimizer=Adam(2e-2), evaluate_every=100)
    )
    num_rounds: int = eqx.field(static=True, default=30)
    calibration: AbstractCalibration = HeldOut()

    @double
    def __call__(
        self, model: BNNModel[K], data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit[LinearizedModel[K]]:
        self.check(model, data)
        prior = self._checked_prior(model, key)
        start_key, train_key = jax.random.split(key)
        network, like = model.function.network, model.function.params
        start = random_members(network, like, jnp.asarray(data.x), 1, key=start_key)
        run = _Run(Model(start, model.likelihood), prior, data, train_key)
        self._train(run)
        posterior = self._posterior(run, validation)
        if validation is not None and self.num_rounds:
            posterior = self.calibration(
                posterior, validation, key=train_key, prior=model, data=data
            )
        return Fit(posterior, run.history)

    def _train(self, run: "_Run") -> None:
        num_rounds = max(1, min(self.num_rounds, self.training.num_steps))
        for number in range(num_rounds):
            stopped = run.train(self.training, number, num_rounds)
            if self.num_rounds:
                run.choose(self._judge)
            if stopped:
                break

    def _posterior(self, run: "_Run", validation: Data | None) -> LinearizedModel:
        found = curvature(self.structure, run.model, run.data)
        posterior = run.posterior(self.structure, found, run.prior)
        if self.num_rounds and validation is not None and isinstance(self.structure, Diagonal):
            # The marginal likelihood of a diagonal is far off: it ignores correlations.
            return _most_probable_width(run, self.structure, found, validation)
        return posterior

    @property
    def _judge(self) -> AbstractCovariance:
        """The structure by which prior scales and noise are chosen.

        A diagonal would overestimate what the data determine, the last layer underestimate it.
        """
        return self.structure if isinstance(self.structure, Full) else RotatedDiagonal()

    def _checked_prior(self, model: BNNModel, key: PRNGKeyArray) -> WeightPrior:
        check_structure(self.structure)
        jax.eval_shape(lambda: self.structure.init(model.function.params, key=key))
        prior = WeightPrior.of(model.function)
        uneven = any(np.ptp(np.asarray(std)) > 0 for std in prior.stds)
        if uneven and not isinstance(self.structure, Full):
            raise ValueError(
                "Laplace expects a prior with one standard deviation per layer (Isotropic); got "
                "one with several. Build it by BayesianNetwork.prior(network, x), or use Full()."
            )
        return prior


@dataclasses.dataclass
class _Run:
    """The weights, prior scales and noise found so far."""

    model: EnsembleModel
    prior: WeightPrior
    data: Data
    key: PRNGKeyArray
    histories: list[History] = dataclasses.field(default_factory=list)

    @property
    def params(self) -> Params:
        return self.model.function.member(0)

    @property
    def history(self) -> History:
        """The concatenated histories of all rounds."""
        names = self.histories[0].steps
        steps = {n: np.concatenate([h.steps[n] for h in self.histories]) for n in names}
        none = np.zeros(0)
        return History(steps, none.astype(int), none, len(steps["objective"]))

    def train(self, training: Training, number: int, num_rounds: int) -> bool:
        """Train the weights for one round; True if the watcher asks to stop."""
        watch = _Watch(training, number, num_rounds)
        part = dataclasses.replace(
            training, num_steps=training.num_steps // num_rounds, watch=watch
        )
        self.key, key = jax.random.split(self.key)
        self.model, history = maximize(
            LogPosterior(self.prior), self.model, self.data, part, key=key, fixed=likelihood_of
        )
        self.histories.append(history)
        return watch.stopped

    def choose(self, structure: AbstractCovariance) -> None:
        """Choose prior scales and noise by marginal likelihood, at the current weights."""
        found = curvature(structure, self.model, self.data)
        self.prior = chosen_prior(self.prior, self.params, found)
        if _has_noise(self.model):
            posterior = self.posterior(structure, found, self.prior)
            stride = _stride(found, self.prior, self.data)
            refitted = with_share(posterior, self.data, stride, key=self.key)
            self.model = Model(self.model.function, refitted.likelihood)

    def posterior(
        self, structure: AbstractCovariance, found: AbstractCurvature, prior: WeightPrior
    ) -> LinearizedModel:
        """The linearised network whose covariance inverts curvature plus prior precision."""
        dtype = jax.tree.leaves(self.params)[0].dtype
        state = jax.tree.map(lambda leaf: leaf.astype(dtype), _state(found, prior))
        network = self.model.function.network
        function = LinearizedNetwork(network, structure, self.params, state)
        return Model(function, self.model.likelihood)


class _Watch:
    """Reports the steps of all rounds to the watcher, and remembers whether to stop."""

    def __init__(self, training: Training, number: int, num_rounds: int):
        self._training, self._number, self._num_rounds = training, number, num_rounds
        self.stopped = False

    def __call__(self, progress: Progress) -> bool:
        watch = self._training.watch
        step = progress.step + self._number * progress.num_steps
        whole = progress._replace(step=step, num_steps=self._num_rounds * progress.num_steps)
        self.stopped = watch is not None and bool(watch(whole))
        return self.stopped


def log_marginal_likelihood(
    likelihood: AbstractLikelihood,
    y: Array,
    f: Float[Array, "output point"],
    distances: tuple[Float[Array, ""], ...],
    log_det: Float[Array, ""],
) -> Float[Array, ""]:
    """Laplace's approximation of log p(y): fit, distance from the prior and Occam factor."""
    return jnp.sum(likelihood.log_prob(y, f)) - (sum(distances) + log_det) / 2


@jit_fast_compile
def chosen_prior(prior: WeightPrior, params: Params, found: AbstractCurvature) -> WeightPrior:
    """The prior whose scales, one per leaf, maximise the marginal likelihood (MacKay 1992)."""
    distances = prior.distances(params)

    def step(_: int, scales: tuple[Float[Array, ""], ...]) -> tuple[Float[Array, ""], ...]:
        # scale^2 = |w|^2 / (number of weights determined by the data at this scale)
        numbers = found.num_determined(prior.scaled(scales).stds)
        return tuple(
            jnp.where(n > 0, jnp.clip(jnp.sqrt(d / jnp.maximum(n, 1e-12)), 1e-3, 1e3), scale)
            for d, n, scale in zip(distances, numbers, scales, strict=True)
        )

    scales = jax.lax.fori_loop(0, 30, step, tuple(jnp.ones(()) for _ in distances))
    return prior.scaled(scales)


@jit_fast_compile
def _state(found: AbstractCurvature, prior: WeightPrior) -> State:
    return found.state(prior.stds)


def _stride(found: AbstractCurvature, prior: WeightPrior, data: Data) -> float:
    """Step length relative to expectation maximisation.

    With g weights determined by N observations, EM covers only 1 - g / N of the way per step.
    """
    share = float(_num_determined(found, prior)) / np.size(data.y)
    return 1 / max(1 - share, 1 / MAX_STRIDE)


@jit_fast_compile
def _num_determined(found: AbstractCurvature, prior: WeightPrior) -> Float[Array, ""]:
    return sum(found.num_determined(prior.stds), jnp.zeros(()))


def _has_noise(model: Model) -> bool:
    fixed = {id(leaf) for leaf in jax.tree.leaves(fixed_by_prior(model))}
    leaves = jax.tree.leaves(model.likelihood)
    return any(is_learnable(leaf) and id(leaf) not in fixed for leaf in leaves)


def _most_probable_width(
    run: _Run, structure: AbstractCovariance, found: AbstractCurvature, validation: Data
) -> LinearizedModel:
    """The posterior under the common factor on prior scales that suits held-out rows best."""
    posteriors = [
        run.posterior(structure, found, run.prior.scaled((jnp.asarray(f),) * len(run.prior.stds)))
        for f in FACTORS
    ]
    weights = np.asarray(validation.row_weights)
    scores = [
        np.average(p.predict(validation.x).log_prob(validation.y), weights=weights)
        for p in posteriors
    ]
    return posteriors[int(np.argmax(scores))]
