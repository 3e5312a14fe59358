"""Rows in, a fitted posterior out: the prior chosen, the network trained, the result looked at."""

import dataclasses
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import equinox as eqx
import jax
import numpy as np

from gfsvi import registry
from gfsvi.auto.novelty import novelty_of
from gfsvi.auto.observations import observed_labels, observed_numbers
from gfsvi.auto.phases import Stages, Watch
from gfsvi.auto.settings import Settings
from gfsvi.data import Data
from gfsvi.diagnostics import diagnose
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.adapters import as_kernel
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.lengthscales import with_common_lengthscale, with_own_lengthscales
from gfsvi.kernels.one_of import OneOf
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.networks.adapters import as_network
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.cnn import CNN
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.batching import spreads
from gfsvi.numerics.precision import to_numpy
from gfsvi.numerics.threads import for_so_many_rows
from gfsvi.storage import model_file as persistence
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.tables import Preparation
from gfsvi.training.settings import Training
from gfsvi.version import __version__

if TYPE_CHECKING:
    import pandas

AUTO_KERNELS = ("matern52", "matern32", "rbf")
MIN_PRIOR_ROWS = 200
RANDOM = "rbg"
"""JAX's generator that compiles three times faster than its default."""

Learned = dict[str, Any]
"""What was learned, by the names of a fitted estimator's attributes."""


@dataclasses.dataclass(frozen=True)
class Learner:
    """Learns what an estimator predicts from; its fields are the estimators' parameters."""

    task: Literal["regression", "classification"]
    method: str | AbstractMethod = "gfsvi"
    kernel: Any = "auto"
    prior_scale: float = 1.0
    network: Any = None
    hidden: tuple[int, ...] | None = None
    num_points: int | None = None
    gamma: float | None = None
    num_steps: int | None = None
    batch_size: int | None = None
    validation_fraction: float = 0.1
    time_budget: float | None = None
    checkpoint: str | PathLike[str] | None = None
    watch: Watch | None = None
    random_state: Any = None

    def learn_table(self, frame: "pandas.DataFrame", preparation: Preparation) -> Learned:
        """Learn from a table as it comes, by a preparation that was learned before."""
        usable = frame[preparation.usable_rows(frame)]
        y = preparation.observations(usable)
        if preparation.classes is not None:
            y = np.asarray(preparation.classes)[y]
        learned = self.learn(preparation.inputs(usable), y, preparation.feature_names)
        return learned | {"preparation_": preparation}

    def learn(self, X: np.ndarray, y: np.ndarray, names: Sequence[str] | None = None) -> Learned:
        """Learn from rows of numbers, with names of the features if there are any, or images."""
        names = tuple(names or (f"x{number}" for number in range(1, X.shape[1] + 1)))
        observe = observed_numbers if self.task == "regression" else observed_labels
        observations = observe(y)
        centre, spread = _centre_and_spread(X)
        with for_so_many_rows(len(X)):
            data = Data((X - centre) / spread, observations.y)
            learned = self.learn_standardized(data, observations.likelihood, names)
        return {
            "preparation_": None,
            "n_features_in_": X.shape[1],
            "feature_names_": names,
            "input_centre_": centre,
            "input_spread_": spread,
            **observations.attributes,
            **learned,
        }

    def learn_standardized(
        self, all_rows: Data, likelihood: AbstractLikelihood, names: tuple[str, ...]
    ) -> Learned:
        """Learn from standardised rows."""
        seed = seed_of(self.random_state)
        prototype = self._prototype()
        key, prior_key, fit_key = jax.random.split(jax.random.key(seed, impl=RANDOM), 3)
        data, validation, validation_rows = self.held_out(all_rows, seed)
        num_outputs = likelihood.num_outputs(data.y)
        settings = self.settings(data, len(validation_rows), num_outputs, seed)
        checkpoints = self._checkpoints(all_rows, prototype, settings)
        stages = Stages(checkpoints, self.watch, self.time_budget)
        network = self._built_network(prototype, settings, num_outputs)
        method = stages.sized(prototype, settings, network)
        prior = self._blank_prior(data, likelihood, method, network, num_outputs)
        # Compiling the fit takes as long as choosing the prior: both at once.
        with ThreadPoolExecutor(max_workers=1) as pool:
            pool.submit(method.rehearse, prior, data, key=fit_key, validation=validation)
            prior = self._choose_prior(prior, data, stages, prior_key)
            fit = method(prior, data, key=fit_key, validation=validation)
        prior = _with_plain_kernel(prior)
        posterior, history = to_numpy((fit.posterior, fit.history))
        diagnostics = diagnose(
            prior,
            posterior,
            data,
            method=method,
            history=history,
            feature_names=names,
            key=key,
        )
        return {
            "validation_rows_": validation_rows,
            "settings_": settings,
            "prior_": prior,
            "posterior_": posterior,
            "history_": history,
            "novelty_": to_numpy(novelty_of(prior, posterior, all_rows, seed=seed)),
            "diagnostics_": diagnostics,
        }

    def held_out(self, data: Data, seed: int) -> tuple[Data, Data | None, np.ndarray]:
        """Rows to train on, rows to judge by if there are enough, and the numbers of the latter."""
        order = np.random.default_rng(seed).permutation(len(data))
        count = round(self.validation_fraction * len(data))
        if count < 2 or len(data) - count < 2:
            return data, None, np.zeros(0, int)
        held_out, rest = np.sort(order[:count]), np.sort(order[count:])
        return data.take(rest), data.take(held_out), held_out

    def settings(self, data: Data, num_validation: int, num_outputs: int, seed: int) -> Settings:
        """The sizes of this fit."""
        given = ("hidden", "num_points", "gamma", "num_steps", "batch_size")
        return Settings.derive(
            self._prototype(),
            len(data),
            num_validation,
            data.x.shape[1:],
            num_outputs,
            seed,
            **{name: getattr(self, name) for name in given},
        )

    def _prototype(self) -> AbstractMethod:
        """The method to fit with, before it is given its sizes."""
        method = self.method
        if isinstance(method, str):
            method = registry.find("methods", method)()
        if isinstance(method, EmpiricalBayes) or not isinstance(method, AbstractMethod):
            raise ValueError(
                "method expects a method that learns a posterior, or its name; "
                f"got {self.method!r}. `gfsvi list methods` names them."
            )
        return method

    def _built_network(
        self, method: AbstractMethod, settings: Settings, num_outputs: int
    ) -> AbstractNetwork:
        """The network asked for with as many outputs as are needed; a user's own as it is."""
        chosen = getattr(method, "network", MLP()) if self.network is None else self.network
        if isinstance(chosen, str):
            chosen = registry.find("networks", chosen)()
        if isinstance(chosen, CNN):
            return dataclasses.replace(chosen, outputs=num_outputs)
        if isinstance(chosen, MLP):
            return MLP(settings.hidden, num_outputs, chosen.activation)
        return as_network(chosen)

    def _checkpoints(
        self, data: Data, prototype: AbstractMethod, settings: Settings
    ) -> Checkpoints | None:
        if self.checkpoint is None:
            return None
        # The text of a kernel need not show its numbers.
        numbers = [np.asarray(leaf) for leaf in jax.tree.leaves(self.kernel) if eqx.is_array(leaf)]
        kernel = {"text": repr(self.kernel), "numbers": numbers}
        work = {"x": data.x, "y": data.y, "settings": settings, "kernel": kernel}
        work |= {"method": repr(prototype), "prior_scale": self.prior_scale}
        work["network"] = repr(self.network)
        work["version"] = __version__
        return Checkpoints(self.checkpoint, persistence.fingerprint(work))

    def _blank_prior(
        self,
        data: Data,
        likelihood: AbstractLikelihood,
        method: AbstractMethod,
        network: AbstractNetwork,
        num_outputs: int,
    ) -> Model:
        """The prior before the data have been asked, of the kind that the method needs."""
        if method.prior_kind is BayesianNetwork:
            prior = BayesianNetwork.prior(network, data.x[:1], scale=self.prior_scale)
            return to_numpy(Model(prior, likelihood))
        first = _kernels(self.kernel, data.x.shape[1:])[0]
        return Model(GaussianProcess(first, outputs=num_outputs), likelihood)

    def _choose_prior(self, prior: Model, data: Data, stages: Stages, key: Any) -> Model:
        if isinstance(prior.function, BayesianNetwork):
            return prior
        default, outputs = EmpiricalBayes(), prior.function.outputs
        few, many = (
            stages.training(_for_outputs(training, outputs), "prior", until=0.4)
            for training in (default.training, default.last)
        )
        method = EmpiricalBayes(
            kernels=tuple(_kernels(self.kernel, data.x.shape[1:])[1:]),
            num_starts=1,
            training=dataclasses.replace(few, num_steps=few.num_steps // 2),
            last=many if data.x.ndim == 2 else None,
        )
        return to_numpy(method(prior, data, key=key).posterior)


def _for_outputs(training: Training, num_outputs: int) -> Training:
    """Fewer rows a step for more outputs, each of which has a factorisation of its own."""
    batch_size = max(MIN_PRIOR_ROWS, round(training.batch_size / num_outputs**0.5))
    return dataclasses.replace(training, batch_size=batch_size)


def _with_plain_kernel(prior: Model) -> Model:
    """One of several families, once it is chosen, is that family."""
    if isinstance(kernel := getattr(prior.function, "kernel", None), OneOf):
        return Model(dataclasses.replace(prior.function, kernel=kernel.kernel), prior.likelihood)
    return prior


def _centre_and_spread(X: np.ndarray) -> tuple[Any, Any]:
    """Of every feature; of images one for all pixels, which belong together."""
    if X.ndim == 2:
        return X.mean(axis=0), spreads(X)
    return X.mean(), X.std() or 1.0


def _kernels(kernel: Any, shape: tuple[int, ...]) -> Sequence[AbstractKernel]:
    """The families to choose from, with a length scale a feature; one for all pixels."""
    if not isinstance(kernel, str):
        return [as_kernel(kernel)]
    size, of_images = math.prod(shape), len(shape) > 1
    if kernel != "auto":
        build = with_common_lengthscale if of_images else with_own_lengthscales
        return [build(registry.find("kernels", kernel), size)]
    families = tuple(registry.find("kernels", name) for name in AUTO_KERNELS)
    lengthscale = np.array(size**0.5) if of_images else np.full(size, size**0.5)
    return [OneOf(families, np.array(number), lengthscale) for number in range(len(families))]


def seed_of(random_state: Any) -> int:
    """A number from whatever scikit-learn takes for a source of randomness."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(2**31 - 1))
