"""From rows to a fit: choose the prior, train, and examine the result."""

import dataclasses
import math
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
from gfsvi.auto.phases import DIAGNOSTICS, Phases
from gfsvi.auto.priors import (
    blank_prior,
    chosen_prior,
    kernel_in_model_units,
    kernels_named,
)
from gfsvi.auto.problem import Problem, Solution
from gfsvi.auto.quality import judged_rows, over_budget, quality
from gfsvi.auto.recipe import Recipe, recipe_for
from gfsvi.auto.rows import centre_and_spread, checked_weights
from gfsvi.auto.seasons import time_kernels, with_future
from gfsvi.auto.settings import Settings
from gfsvi.auto.sizing import choice_within, network_for, sized
from gfsvi.auto.targets import (
    Labels,
    Observed,
    observed_labels,
    observed_numbers,
    observed_numbers_of_classes,
)
from gfsvi.auto.units import Feature, features_of
from gfsvi.auto.within_budget import affordable, simpler_fit, work_of
from gfsvi.data import Data
from gfsvi.diagnostics import diagnose
from gfsvi.kernels.base import AbstractKernel
from gfsvi.methods.base import AbstractMethod, Precompiled
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.numerics.clock import Clock
from gfsvi.numerics.compilation import let_go_if_many
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
            weights = checked_weights(weights, len(table.usable))[table.usable]

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
        budget, work = parameters.time_budget, work_of(problem, self.recipe.method, in_haste=True)
        reserved = None if budget is None or work is None else work.seconds()
        phases = Phases(self._checkpoints(problem), parameters.watch, budget, reserved)
        choice = choice_within(self.recipe.choice, phases)
        outputs = problem.num_outputs
        network = network_for(parameters.network, self.recipe.method, settings, outputs)
        method = sized(self.recipe, settings, network, phases)
        prior, others = self._blank_prior(problem, method, network)
        # Compiling the fit takes as long as choosing the prior: both at once.
        with ThreadPoolExecutor(max_workers=1) as pool:
            if isinstance(method, Precompiled):
                pool.submit(method.precompile, prior, data, key=fit_key, validation=validation)
            prior = chosen_prior(
                prior,
                data,
                choice,
                key=prior_key,
                others=others,
                separate=problem.separate,
                always_separate=problem.in_time_order,
            )
            method = with_future(method, prior.function, data.x, problem.features)
            fit = method(prior, data, key=fit_key, validation=validation)
        phases.begin_examination()
        posterior, history = to_numpy((fit.posterior, fit.history))
        novelty = to_numpy(novelty_of(prior, posterior, problem.rows, seed=settings.seed))
        simpler = simpler_fit(self._wanted(problem), settings, phases.cut)
        diagnostics = () if simpler is None else (simpler,)
        if phases.clock_of(DIAGNOSTICS).is_over():
            return Solution(prior, posterior, history, novelty, diagnostics)
        diagnostics += diagnose(
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
        let_go_if_many()
        began, counted = time.monotonic(), np.arange(len(x))
        clock = Clock(self.parameters.time_budget)
        table_order, order = order, order_of_rows(self.parameters, order, len(x))
        if weights is not None:
            counted = np.flatnonzero(checked_weights(weights, len(x)))
            x, y, weights = x[counted], y[counted], weights[counted]
            order = order and order._replace(times=order.times[counted])
        centre, spread = centre_and_spread(x, weights)
        fraction = share_held_out(self.parameters, self.recipe, x.shape, order)
        held_out = held_out_rows(len(x), fraction, int(self.parameters.random_state), order)
        with limit_threads(len(x)):
            observed = observe(y, weights)
            outputs = observed.likelihood.num_outputs(observed.y)
            columns = tuple(names or (f"x{i}" for i in range(1, x.shape[1] + 1)))
            features = features_of(columns, spread, preparation)
            problem = Problem(
                rows=Data((x - centre) / spread, observed.y, weights),
                validation_rows=held_out,
                likelihood=observed.likelihood,
                features=features,
                settings=self._settings(len(x), len(held_out), x.shape[1:], outputs),
                separate=time_kernels(self.parameters.kernel, features, x),
                in_time_order=table_order is not None,
            )
            if self.parameters.num_points is None:
                problem = affordable(problem, self.recipe.method, clock)
            solution = self._in_units_of(features, clock).solve(problem)
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
        rows = None if clock.is_over() else Data(x, y, weights)
        return self._judged(fitted, rows, held_out, order, began)

    def _judged(
        self,
        fitted: Fitted,
        rows: Data | None,
        held_out: np.ndarray,
        order: TimeOrder | None,
        began: float,
    ) -> Fitted:
        """The fit with what its predictions of unseen rows, if given, and the clock say of it."""
        method, found, unseen = type(self.recipe.method), (), None
        if rows is not None:
            judged = judged_rows(fitted, rows, held_out, method, order is not None)
            found, unseen = quality(judged, fitted), judged.unseen
        late = over_budget(time.monotonic() - began, self.parameters.time_budget)
        found = found if late is None else (*found, late)
        if order is not None and len(held_out):
            found = (*found, future_held_out(order, len(held_out)))
        found = (*found, *fitted.diagnostics)
        return dataclasses.replace(fitted, diagnostics=found, unseen=unseen)

    def _wanted(self, problem: Problem) -> Settings:
        """The sizes without a time limit."""
        rows, held_out = problem.rows, len(problem.validation_rows)
        return self._settings(len(rows), held_out, rows.x.shape[1:], problem.num_outputs)

    def _in_units_of(self, features: Sequence[Feature], clock: Clock) -> "Learner":
        """The learner with its kernel on the standardised scale, and the time that is left."""
        kernel = kernel_in_model_units(self.parameters.kernel, features)
        budget = None if math.isinf(clock.left) else max(clock.left, 1e-3)
        parameters = dataclasses.replace(self.parameters, kernel=kernel, time_budget=budget)
        return dataclasses.replace(self, parameters=parameters)

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
