"""Rows in, a fit out: the prior chosen, the network trained, the result examined."""

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import equinox as eqx
import jax
import numpy as np

from gfsvi import registry
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.novelty import novelty_of
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.phases import PRIOR, Phases
from gfsvi.auto.priors import blank_prior, chosen_prior, kernels_named
from gfsvi.auto.recipe import Recipe, recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.auto.sizing import sized
from gfsvi.auto.targets import (
    Observed,
    observed_labels,
    observed_numbers,
    observed_numbers_of_classes,
)
from gfsvi.data import Data
from gfsvi.diagnostics import diagnose
from gfsvi.methods.base import AbstractMethod, Precompiled
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.networks.adapters import as_network
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.cnn import CNN
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.batching import spreads
from gfsvi.numerics.precision import to_numpy
from gfsvi.numerics.threads import limit_threads
from gfsvi.storage import model_file
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.tables import Preparation, PreparedTable
from gfsvi.training.history import Fit
from gfsvi.version import __version__

Observe = Callable[[np.ndarray, np.ndarray | None], Observed]

RANDOM = "rbg"
"""JAX's generator that compiles three times faster than its default."""


@dataclasses.dataclass(frozen=True)
class Learner:
    """Learns what estimators and the command line predict from.

    Args:
        task: What kind of target there is.
        parameters: What the user said about the fit; its `random_state` must be a whole number.
        recipe: The method and how its prior is chosen.
        prior_scale: The standard deviation of weights, for methods with a prior over weights.
    """

    task: Literal["regression", "classification"]
    parameters: Parameters = dataclasses.field(default_factory=Parameters)
    recipe: Recipe = dataclasses.field(default_factory=lambda: recipe_for("gfsvi"))
    prior_scale: float = 1.0

    def learn_table(
        self,
        table: PreparedTable,
        preparation: Preparation,
        weights: np.ndarray | None = None,
    ) -> Fitted:
        """Learn from a prepared table, whose rows may have weights."""
        likelihood, classes = self.parameters.likelihood, preparation.classes
        weights = None if weights is None else weights[table.usable]

        def observe(y: np.ndarray, weights: np.ndarray | None) -> Observed:
            if classes is None:
                return observed_numbers(y, likelihood, weights)
            return observed_numbers_of_classes(y, classes, likelihood)

        fitted = self._learn(table.x, table.y, preparation.feature_names, weights, observe)
        return dataclasses.replace(fitted, preparation=preparation)

    def learn(
        self,
        x: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None = None,
        weights: np.ndarray | None = None,
    ) -> Fitted:
        """Learn from rows of numbers or images, with names of the features if there are any."""
        likelihood = self.parameters.likelihood

        def observe(y: np.ndarray, weights: np.ndarray | None) -> Observed:
            if self.task == "classification":
                return observed_labels(y, likelihood)
            return observed_numbers(y, likelihood, weights)

        return self._learn(x, y, names, weights, observe)

    def _learn(
        self,
        x: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None,
        weights: np.ndarray | None,
        observe: Observe,
    ) -> Fitted:
        if weights is not None:
            counted = np.flatnonzero(_checked_weights(weights, len(x)))
            x, y, weights = x[counted], y[counted], weights[counted]
        centre, spread = _centre_and_spread(x, weights)
        with limit_threads(len(x)):
            observed = observe(y, weights)
            data = Data((x - centre) / spread, observed.y, weights)
            return self._learn_standardized(data, observed, names, (centre, spread))

    def _learn_standardized(
        self,
        all_rows: Data,
        observed: Observed,
        given: Sequence[str] | None,
        scale: tuple[Any, Any],
    ) -> Fitted:
        names = tuple(given or (f"x{i}" for i in range(1, all_rows.x.shape[1] + 1)))
        seed = int(self.parameters.random_state)
        key, prior_key, fit_key = jax.random.split(jax.random.key(seed, impl=RANDOM), 3)
        data, validation, validation_rows = self.held_out(all_rows, seed)
        num_outputs = observed.likelihood.num_outputs(data.y)
        settings = self.settings(data, len(validation_rows), num_outputs, seed)
        phases = Phases(
            self._checkpoints(all_rows, settings),
            self.parameters.watch,
            self.parameters.time_budget,
        )
        network = self._network(settings, num_outputs)
        method = sized(self.recipe.method, settings, network, phases)
        prior, fit = self._fit(
            method, network, observed, data, validation, phases, (prior_key, fit_key)
        )
        posterior, history = to_numpy((fit.posterior, fit.history))
        return Fitted(
            prior=prior,
            posterior=posterior,
            target=observed.target,
            input_centre=scale[0],
            input_spread=scale[1],
            feature_names=names,
            are_named=given is not None,
            preparation=None,
            settings=settings,
            history=history,
            novelty_measure=to_numpy(novelty_of(prior, posterior, all_rows, seed=seed)),
            diagnostics=diagnose(
                prior,
                posterior,
                data,
                method=method,
                history=history,
                feature_names=names,
                key=key,
            ),
            validation_rows=validation_rows,
        )

    def _fit(
        self,
        method: AbstractMethod,
        network: AbstractNetwork,
        observed: Observed,
        data: Data,
        validation: Data | None,
        phases: Phases,
        keys: tuple[Any, Any],
    ) -> tuple[Model, Fit]:
        """The chosen prior, and the fit under it."""
        prior_key, fit_key = keys
        kernel, *others = kernels_named(self.parameters.kernel, data.x.shape[1:])
        prior = blank_prior(
            method,
            observed.likelihood,
            data,
            kernel=kernel,
            network=network,
            scale=self.prior_scale,
        )
        choice = _within(self.recipe.choice, phases)
        # Compiling the fit takes as long as choosing the prior: both at once.
        with ThreadPoolExecutor(max_workers=1) as pool:
            if isinstance(method, Precompiled):
                pool.submit(method.precompile, prior, data, key=fit_key, validation=validation)
            prior = chosen_prior(prior, data, choice, key=prior_key, others=others)
            return prior, method(prior, data, key=fit_key, validation=validation)

    def held_out(self, data: Data, seed: int) -> tuple[Data, Data | None, np.ndarray]:
        """Rows to train on, rows to judge by if there are enough, and the numbers of the latter."""
        order = np.random.default_rng(seed).permutation(len(data))
        count = round(self.parameters.validation_fraction * len(data))
        if count < 2 or len(data) - count < 2:
            return data, None, np.zeros(0, int)
        held_out, rest = np.sort(order[:count]), np.sort(order[count:])
        return data.take(rest), data.take(held_out), held_out

    def settings(self, data: Data, num_validation: int, num_outputs: int, seed: int) -> Settings:
        """The sizes of this fit."""
        given = ("hidden", "num_points", "gamma", "num_steps", "batch_size")
        return Settings.derive(
            self.recipe.method,
            len(data),
            num_validation,
            data.x.shape[1:],
            num_outputs,
            seed,
            **{name: getattr(self.parameters, name) for name in given},
        )

    def _network(self, settings: Settings, num_outputs: int) -> AbstractNetwork:
        """The network asked for with as many outputs as are needed; a user's own as it is."""
        chosen = self.parameters.network
        if chosen is None:
            chosen = getattr(self.recipe.method, "network", MLP())
        if isinstance(chosen, str):
            chosen = registry.find("networks", chosen)()
        if isinstance(chosen, CNN):
            return dataclasses.replace(chosen, outputs=num_outputs)
        if isinstance(chosen, MLP):
            return MLP(settings.hidden, num_outputs, chosen.activation)
        return as_network(chosen)

    def _checkpoints(self, data: Data, settings: Settings) -> Checkpoints | None:
        parameters = self.parameters
        if parameters.checkpoint is None:
            return None
        # The text of a kernel or likelihood need not show its numbers.
        told = (parameters.kernel, parameters.likelihood)
        numbers = [np.asarray(leaf) for leaf in jax.tree.leaves(told) if eqx.is_array(leaf)]
        work = {
            "x": data.x,
            "y": data.y,
            "weights": data.weights,
            "settings": settings,
            "prior": {"text": repr(told), "numbers": numbers, "scale": self.prior_scale},
            "method": repr(self.recipe.method),
            "network": repr(parameters.network),
            "version": __version__,
        }
        return Checkpoints(parameters.checkpoint, model_file.fingerprint(work))


def _within(choice: EmpiricalBayes, phases: Phases) -> EmpiricalBayes:
    """The choice of a prior, held to its share of the time."""
    last = None if choice.last is None else phases.training(choice.last, PRIOR)
    return dataclasses.replace(choice, training=phases.training(choice.training, PRIOR), last=last)


def _centre_and_spread(x: np.ndarray, weights: np.ndarray | None) -> tuple[Any, Any]:
    """Of every feature; for images one for all pixels, which belong together."""
    if x.ndim > 2:
        return x.mean(), x.std() or 1.0
    return np.average(x, axis=0, weights=weights), spreads(x, weights)


def _checked_weights(weights: np.ndarray, num_rows: int) -> np.ndarray:
    if np.shape(weights) != (num_rows,) or not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(
            f"expected one weight per row, ({num_rows},), none of them negative or NaN; got an "
            f"array of shape {np.shape(weights)}. Leave the weights out to count all rows alike."
        )
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            "expected at least two rows with a positive weight; got "
            f"{np.count_nonzero(weights)}. Give more rows a weight."
        )
    return weights
