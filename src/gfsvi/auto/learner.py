"""From rows to a fit: choose the prior, train, and examine the result."""

import dataclasses
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import equinox as eqx
import jax
import numpy as np

from gfsvi.auto.checking import check_parameters
from gfsvi.auto.conformal import rows_set_aside, with_rows_set_aside, without
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.holding_out import (
    future_held_out,
    held_out_rows,
    order_of_rows,
    share_held_out,
)
from gfsvi.auto.novelty import novelty_of
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.phases import PRIOR, Phases
from gfsvi.auto.priors import (
    blank_prior,
    chosen_prior,
    kernel_in_model_units,
    kernels_named,
)
from gfsvi.auto.problem import Problem, Solution
from gfsvi.auto.quality import judged_rows, over_budget, quality
from gfsvi.auto.recipe import Recipe, recipe_for
from gfsvi.auto.settings import Settings
from gfsvi.auto.sizing import network_for, sized
from gfsvi.auto.targets import (
    Labels,
    Observed,
    observed_labels,
    observed_numbers,
    observed_numbers_of_classes,
)
from gfsvi.auto.units import Feature, features_of
from gfsvi.data import Data
from gfsvi.diagnostics import diagnose
from gfsvi.kernels.base import AbstractKernel
from gfsvi.methods.base import AbstractMethod, Precompiled
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.methods.evidence_search import EvidenceSearch
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.numerics.batching import spreads
from gfsvi.numerics.precision import to_numpy
from gfsvi.numerics.randomness import folded
from gfsvi.numerics.threads import limit_threads
from gfsvi.storage import model_file
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.tables import Preparation, PreparedTable, TimeOrder
from gfsvi.version import __version__

Observe = Callable[[np.ndarray, np.ndarray | None], Observed]

RANDOM = "rbg"
"""A generator of JAX that compiles three times faster than the default."""


@dataclasses.dataclass(frozen=True)
class Learner:
    """Fits tables and arrays, for estimators and the command line.

    Args:
        task: The kind of target.
        parameters: The parameters of the fit; `random_state` must be an integer.
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
        """Fit a prepared table, whose rows may have weights."""
        classes = preparation.classes
        if weights is not None:
            weights = _checked_weights(weights, len(table.usable))[table.usable]

        def observe(y: np.ndarray, weights: np.ndarray | None) -> Observed:
            if classes is None:
                return self._observed_numbers(y, weights)
            return observed_numbers_of_classes(y, classes, self.parameters.likelihood)

        names = preparation.feature_names
        return self._learn(table.x, table.y, names, weights, observe, preparation, table.time_order)

    def learn(
        self,
        x: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None = None,
        weights: np.ndarray | None = None,
    ) -> Fitted:
        """Fit rows of numbers or images; feature names and weights are optional."""

        def observe(y: np.ndarray, weights: np.ndarray | None) -> Observed:
            if self.task == "classification":
                return observed_labels(y, self.parameters.likelihood)
            return self._observed_numbers(y, weights)

        return self._learn(x, y, names, weights, observe)

    def solve(self, problem: Problem) -> Solution:
        """Choose the prior, fit under it, and examine the result."""
        parameters, settings = self.parameters, problem.settings
        data, validation = problem.data, problem.validation
        words = np.random.SeedSequence(settings.seed).generate_state(4)
        random = jax.random.wrap_key_data(words, impl=RANDOM)
        key, prior_key, fit_key = (folded(random, number) for number in range(3))
        phases = Phases(self._checkpoints(problem), parameters.watch, parameters.time_budget)
        choice = _within(self.recipe.choice, phases)
        outputs = problem.num_outputs
        network = network_for(parameters.network, self.recipe.method, settings, outputs)
        method = sized(self.recipe, settings, network, phases)
        prior, others = self._blank_prior(problem, method, network)
        # Compiling the fit takes as long as choosing the prior: both at once.
        with ThreadPoolExecutor(max_workers=1) as pool:
            if isinstance(method, Precompiled):
                pool.submit(method.precompile, prior, data, key=fit_key, validation=validation)
            prior = chosen_prior(prior, data, choice, key=prior_key, others=others)
            fit = method(prior, data, key=fit_key, validation=validation)
        phases.begin_examination()
        posterior, history = to_numpy((fit.posterior, fit.history))
        novelty = to_numpy(novelty_of(prior, posterior, problem.rows, seed=settings.seed))
        diagnostics = diagnose(
            prior,
            posterior,
            data,
            method=method,
            history=history,
            feature_names=problem.feature_names,
            key=key,
        )
        return Solution(prior, posterior, history, novelty, diagnostics)

    def _learn(
        self,
        x: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None,
        weights: np.ndarray | None,
        observe: Observe,
        preparation: Preparation | None = None,
        order: TimeOrder | None = None,
    ) -> Fitted:
        """Fit rows, except those that are set aside."""
        check_parameters(self.parameters, self.prior_scale)
        aside = rows_set_aside(self.parameters, y, self.task)
        counted = weights if aside is None else without(aside, weights, len(x))
        fitted = self._learn_all(x, y, names, counted, observe, preparation, order)
        if aside is None:
            return dataclasses.replace(fitted, conformal=self.parameters.conformal)
        y = y if preparation is not None else fitted.target.numbers(y)
        return with_rows_set_aside(fitted, Data(x, y, weights).take(aside))

    def _learn_all(
        self,
        x: np.ndarray,
        y: np.ndarray,
        names: Sequence[str] | None,
        weights: np.ndarray | None,
        observe: Observe,
        preparation: Preparation | None,
        order: TimeOrder | None,
    ) -> Fitted:
        began, counted = time.monotonic(), np.arange(len(x))
        order = order_of_rows(self.parameters, order, len(x))
        if weights is not None:
            counted = np.flatnonzero(_checked_weights(weights, len(x)))
            x, y, weights = x[counted], y[counted], weights[counted]
            order = order and order._replace(times=order.times[counted])
        centre, spread = _centre_and_spread(x, weights)
        fraction = share_held_out(self.parameters, self.recipe, x.shape, order)
        held_out = held_out_rows(len(x), fraction, int(self.parameters.random_state), order)
        with limit_threads(len(x)):
            observed = observe(y, weights)
            outputs = observed.likelihood.num_outputs(observed.y)
            problem = Problem(
                rows=Data((x - centre) / spread, observed.y, weights),
                validation_rows=held_out,
                likelihood=observed.likelihood,
                feature_names=tuple(names or (f"x{i}" for i in range(1, x.shape[1] + 1))),
                settings=self._settings(len(x), len(held_out), x.shape[1:], outputs),
            )
            features = features_of(problem.feature_names, spread, preparation)
            solution = self._in_units_of(features).solve(problem)
        fitted = Fitted(
            **solution._asdict(),
            target=observed.target,
            input_centre=centre,
            input_spread=spread,
            feature_names=problem.feature_names,
            are_named=names is not None,
            preparation=preparation,
            settings=problem.settings,
            validation_rows=counted[held_out],
        )
        y = observed.y if isinstance(observed.target, Labels) else y
        return self._judged(fitted, Data(x, y, weights), held_out, order, began)

    def _judged(
        self,
        fitted: Fitted,
        rows: Data,
        held_out: np.ndarray,
        order: TimeOrder | None,
        began: float,
    ) -> Fitted:
        """The fit with what its predictions of unseen rows, and the clock, say about it."""
        method = type(self.recipe.method)
        judged = judged_rows(fitted, rows, held_out, method, order is not None)
        found, unseen = quality(judged, fitted), judged.unseen
        late = over_budget(time.monotonic() - began, self.parameters.time_budget)
        found = found if late is None else (*found, late)
        if order is not None and len(held_out):
            found = (*found, future_held_out(order, len(held_out)))
        found = (*found, *fitted.diagnostics)
        return dataclasses.replace(fitted, diagnostics=found, unseen=unseen)

    def _in_units_of(self, features: Sequence[Feature]) -> "Learner":
        """The same learner with its kernel on the standardised scale of these features."""
        kernel = kernel_in_model_units(self.parameters.kernel, features)
        return dataclasses.replace(
            self, parameters=dataclasses.replace(self.parameters, kernel=kernel)
        )

    def _observed_numbers(self, y: np.ndarray, weights: np.ndarray | None) -> Observed:
        given = self.parameters.likelihood
        likelihood = self.recipe.likelihood if isinstance(given, str) and given == "auto" else given
        return observed_numbers(
            y,
            likelihood,
            weights,
            conjugate=self.recipe.method.needs_conjugate,
            adaptive=self.recipe.leaves_rows_out,
        )

    def _settings(
        self, num_rows: int, num_held_out: int, shape: tuple[int, ...], num_outputs: int
    ) -> Settings:
        given = ("hidden", "num_points", "gamma", "num_steps", "batch_size")
        return Settings.derive(
            self.recipe.method,
            num_rows - num_held_out,
            num_held_out,
            shape,
            num_outputs,
            int(self.parameters.random_state),
            **{name: getattr(self.parameters, name) for name in given},
        )

    def _blank_prior(
        self, problem: Problem, method: AbstractMethod, network: AbstractNetwork
    ) -> tuple[Model, list[AbstractKernel]]:
        """The prior before its parameters are chosen, and further kernels to choose from."""
        kernel, *others = kernels_named(self.parameters.kernel, problem.rows.x.shape[1:])
        blank = blank_prior(
            method,
            problem.likelihood,
            problem.rows,
            kernel=kernel,
            network=network,
            scale=self.prior_scale,
        )
        return blank, others

    def _checkpoints(self, problem: Problem) -> Checkpoints | None:
        parameters = self.parameters
        if parameters.checkpoint is None:
            return None
        # The repr of a kernel or likelihood may leave out its numbers.
        told = (parameters.kernel, parameters.likelihood)
        numbers = [np.asarray(leaf) for leaf in jax.tree.leaves(told) if eqx.is_array(leaf)]
        work = {
            "x": problem.rows.x,
            "y": problem.rows.y,
            "weights": problem.rows.weights,
            "settings": problem.settings,
            "prior": {"text": repr(told), "numbers": numbers, "scale": self.prior_scale},
            "method": repr(self.recipe.method),
            "network": repr(parameters.network),
            "version": __version__,
        }
        return Checkpoints(parameters.checkpoint, model_file.fingerprint(work))


def _within(
    choice: EmpiricalBayes | EvidenceSearch, phases: Phases
) -> EmpiricalBayes | EvidenceSearch:
    """The same choice of a prior, limited to its share of the time budget."""
    if isinstance(choice, EvidenceSearch):
        training, otherwise = phases.training(choice.training, PRIOR), choice.otherwise
        return dataclasses.replace(choice, training=training, otherwise=_within(otherwise, phases))
    last = None if choice.last is None else phases.training(choice.last, PRIOR)
    return dataclasses.replace(choice, training=phases.training(choice.training, PRIOR), last=last)


def _centre_and_spread(
    x: np.ndarray, weights: np.ndarray | None
) -> tuple[np.ndarray | float, np.ndarray | float]:
    """Centre and spread of each feature; for images, of all pixels together."""
    if x.ndim == 2:
        return np.average(x, axis=0, weights=weights), spreads(x, weights)
    inner = tuple(range(1, x.ndim))
    centre = float(np.average(x.mean(axis=inner), weights=weights))
    variance = np.average(((x - centre) ** 2).mean(axis=inner), weights=weights)
    return centre, float(np.sqrt(variance)) or 1.0


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
