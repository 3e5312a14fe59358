"""What regressor and classifier share: a table of numbers in, a posterior out."""

import dataclasses
from abc import abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import equinox as eqx
import jax
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

import gfsvi
from gfsvi import persistence, registry
from gfsvi.checkpoints import Checkpoints
from gfsvi.data import Data
from gfsvi.diagnostics import diagnose
from gfsvi.estimators.novelty import novelty_of
from gfsvi.estimators.settings import Settings
from gfsvi.estimators.stages import Stages, Watch
from gfsvi.families import OneOf
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernel import AbstractKernel, with_own_lengthscales
from gfsvi.kernels.adapters import as_kernel
from gfsvi.likelihood import AbstractLikelihood
from gfsvi.method import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.networks.mlp import MLP
from gfsvi.precision import to_numpy
from gfsvi.preparation import Preparation
from gfsvi.rows import spreads
from gfsvi.threads import for_so_many_rows

if TYPE_CHECKING:
    import pandas

AUTO_KERNELS = ("matern52", "matern32", "rbf")
RANDOM = "rbg"
"""JAX's generator that compiles three times faster than its default."""


class AbstractEstimator(BaseEstimator):
    """A Bayesian network under a Gaussian-process prior, in scikit-learn's clothes.

    Args:
        kernel: The prior: "auto" to choose a family from the data, the name of a kernel, or a
            kernel of gfsvi, GPJax, tinygp or scikit-learn. Its parameters are learned from there.
        hidden: Widths of the network's hidden layers.
        num_points: How many points prior and posterior are compared at.
        gamma: The regulariser of the divergence.
        num_steps: Steps of training after the mean has been fitted.
        batch_size: Rows a step.
        validation_fraction: Share of the rows that decide when to stop and set the noise.
        time_budget: Seconds that `fit` may take; it returns the best found until then.
        checkpoint: A file that remembers how far training has come, to go on from if cut off.
        watch: Called with the stage and its `Progress` now and then; return True to stop.
        random_state: Seed, or a NumPy random state.
    """

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        hidden: tuple[int, ...] | None = None,
        num_points: int | None = None,
        gamma: float | None = None,
        num_steps: int | None = None,
        batch_size: int | None = None,
        validation_fraction: float = 0.1,
        time_budget: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        watch: Watch | None = None,
        random_state: Any = None,
    ):
        self.kernel = kernel
        self.hidden = hidden
        self.num_points = num_points
        self.gamma = gamma
        self.num_steps = num_steps
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.time_budget = time_budget
        self.checkpoint = checkpoint
        self.watch = watch
        self.random_state = random_state

    @property
    @abstractmethod
    def _task(self) -> Literal["regression", "classification"]:
        """What a table is prepared for."""

    @property
    @abstractmethod
    def _prototype(self) -> AbstractMethod:
        """The method to fit with, before it is given its sizes."""

    @property
    def _prior_scale(self) -> float:
        """The standard deviation of weights, for methods with a prior over them."""
        return getattr(self, "prior_scale", 1.0)

    @abstractmethod
    def _learn_observations(self, y: np.ndarray) -> tuple[np.ndarray, AbstractLikelihood]:
        """Observations as the likelihood wants them, and the likelihood to start from."""

    def fit_table(self, frame: "pandas.DataFrame", target: str | list[str]) -> "AbstractEstimator":
        """Fit to a table as it comes: text, gaps and dates included; predictions take the same."""
        return self.fit_prepared(frame, Preparation.learn(frame, target, self._task))

    def fit_prepared(self, frame: "pandas.DataFrame", preparation: Preparation) -> Any:
        """Fit to a table whose preparation was learned before."""
        usable = frame[preparation.usable_rows(frame)]
        y = preparation.observations(usable)
        if preparation.classes is not None:
            y = np.asarray(preparation.classes)[y]
        return self._fit(preparation.inputs(usable), y, preparation)

    def novelty(self, X: Any) -> np.ndarray:
        """How unlike the training inputs each row is: 0 all known, 1 nothing known."""
        x = self._standardized(X)
        return self.novelty_.at(x)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator to one file; `gfsvi.load` reads it anywhere."""
        from gfsvi.estimators.files import save

        save(self, path)

    def _fit(self, X: np.ndarray, y: np.ndarray, preparation: Preparation | None) -> Any:
        self.preparation_ = preparation
        if preparation is not None:
            vars(self).pop("feature_names_in_", None)  # of an earlier fit to a frame of numbers
        self.n_features_in_ = X.shape[1]
        self.feature_names_ = self._names(X.shape[1])
        observations, likelihood = self._learn_observations(y)
        self.input_centre_, self.input_spread_ = X.mean(axis=0), spreads(X)
        with for_so_many_rows(len(X)):
            x = (X - self.input_centre_) / self.input_spread_
            self._learn(Data(x, observations), likelihood)
        return self

    def _names(self, num_features: int) -> tuple[str, ...]:
        if self.preparation_ is not None:
            return self.preparation_.feature_names
        if hasattr(self, "feature_names_in_"):
            return tuple(map(str, self.feature_names_in_))
        return tuple(f"x{number}" for number in range(1, num_features + 1))

    def _learn(self, all_rows: Data, likelihood: AbstractLikelihood) -> None:
        seed = seed_of(self.random_state)
        key, prior_key, fit_key = jax.random.split(jax.random.key(seed, impl=RANDOM), 3)
        data, validation, self.validation_rows_ = self._held_out(all_rows, seed)
        num_outputs = likelihood.num_outputs(data.y)
        self.settings_ = self._settings(data, num_outputs, seed)
        stages = Stages(self._checkpoints(all_rows), self.watch, self.time_budget)
        method = stages.sized(self._prototype, self.settings_, num_outputs)
        prior = self._blank_prior(data, likelihood, num_outputs)
        # Compiling the fit takes as long as choosing the prior: both at once.
        with ThreadPoolExecutor(max_workers=1) as pool:
            pool.submit(method.rehearse, prior, data, key=fit_key, validation=validation)
            prior = self._choose_prior(prior, data, stages, prior_key)
        self.prior_ = _with_plain_kernel(prior)
        fit = method(prior, data, key=fit_key, validation=validation)
        self.posterior_, self.history_ = to_numpy((fit.posterior, fit.history))
        self.novelty_ = to_numpy(novelty_of(self.prior_, self.posterior_, all_rows, seed=seed))
        self.diagnostics_ = diagnose(
            self.prior_,
            self.posterior_,
            data,
            method=method,
            history=self.history_,
            feature_names=self.feature_names_,
            key=key,
        )

    def _held_out(self, data: Data, seed: int) -> tuple[Data, Data | None, np.ndarray]:
        order = np.random.default_rng(seed).permutation(len(data))
        count = round(self.validation_fraction * len(data))
        if count < 2 or len(data) - count < 2:
            return data, None, np.zeros(0, int)
        held_out, rest = np.sort(order[:count]), np.sort(order[count:])
        return data.take(rest), data.take(held_out), held_out

    def _settings(self, data: Data, num_outputs: int, seed: int) -> Settings:
        given = ("hidden", "num_points", "gamma", "num_steps", "batch_size")
        return Settings.derive(
            self._prototype,
            len(data),
            len(self.validation_rows_),
            data.x.shape[1],
            num_outputs,
            seed,
            **{name: getattr(self, name) for name in given},
        )

    def _checkpoints(self, data: Data) -> Checkpoints | None:
        if self.checkpoint is None:
            return None
        # The text of a kernel need not show its numbers.
        numbers = [np.asarray(leaf) for leaf in jax.tree.leaves(self.kernel) if eqx.is_array(leaf)]
        kernel = {"text": repr(self.kernel), "numbers": numbers}
        work = {"x": data.x, "y": data.y, "settings": self.settings_, "kernel": kernel}
        work |= {"method": repr(self._prototype), "prior_scale": self._prior_scale}
        work["version"] = gfsvi.__version__
        return Checkpoints(self.checkpoint, persistence.fingerprint(work))

    def _blank_prior(self, data: Data, likelihood: AbstractLikelihood, num_outputs: int) -> Model:
        """The prior before the data have been asked, of the kind that the method needs."""
        if self._prototype.prior_kind is BayesianNetwork:
            network = MLP(self.settings_.hidden, num_outputs)
            prior = BayesianNetwork.prior(network, data.x, scale=self._prior_scale)
            return to_numpy(Model(prior, likelihood))
        first = _kernels(self.kernel, data.x.shape[1])[0]
        return Model(GaussianProcess(first, outputs=num_outputs), likelihood)

    def _choose_prior(self, prior: Model, data: Data, stages: Stages, key: Any) -> Model:
        if isinstance(prior.function, BayesianNetwork):
            return prior
        method = EmpiricalBayes(
            kernels=tuple(_kernels(self.kernel, data.x.shape[1])[1:]),
            num_starts=1,
            num_rounds=2,
            training=stages.training(EmpiricalBayes().training, "prior", until=0.4),
        )
        return to_numpy(method(prior, data, key=key).posterior)

    def _standardized(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        if self.preparation_ is not None and hasattr(X, "columns"):
            X = self.preparation_.inputs(X)
        else:
            X = validate_data(self, X, reset=False, dtype=np.float64)
        return (X - self.input_centre_) / self.input_spread_


def refuse(arguments: dict[str, Any], owner: object) -> None:
    """Say in words that an argument of `fit` is not supported."""
    for name in arguments:
        reason = (
            "every row counts the same. Leave it out, or repeat rows"
            if name == "sample_weight"
            else "it takes X and y alone. Leave it out"
        )
        raise TypeError(f"{type(owner).__name__}.fit does not support {name}: {reason}.")


def _with_plain_kernel(prior: Model) -> Model:
    """One of several families, once it is chosen, is that family."""
    if isinstance(kernel := getattr(prior.function, "kernel", None), OneOf):
        return Model(dataclasses.replace(prior.function, kernel=kernel.kernel), prior.likelihood)
    return prior


def _kernels(kernel: Any, num_features: int) -> Sequence[AbstractKernel]:
    if not isinstance(kernel, str):
        return [as_kernel(kernel)]
    if kernel != "auto":
        return [with_own_lengthscales(registry.find("kernels", kernel), num_features)]
    families = tuple(registry.find("kernels", name) for name in AUTO_KERNELS)
    lengthscale = np.full(num_features, num_features**0.5)
    return [OneOf(families, np.array(number), lengthscale) for number in range(len(families))]


def seed_of(random_state: Any) -> int:
    """A number from whatever scikit-learn takes for a source of randomness."""
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))
