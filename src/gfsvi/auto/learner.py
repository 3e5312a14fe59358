"""From rows to a fit: choose the prior, train, and examine the result."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from gfsvi.auto.checking import check_parameters
from gfsvi.auto.conformal import rows_set_aside, with_rows_set_aside, without
from gfsvi.auto.examination import Examination
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.holding_out import order_of_rows, rows_apart
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.priors import kernel_in_model_units
from gfsvi.auto.problem import Problem
from gfsvi.auto.recipe import Recipe, recipe_for
from gfsvi.auto.rows import GivenRows, centre_and_spread, checked_weights
from gfsvi.auto.seasons import time_kernels
from gfsvi.auto.solving import Solver, settings_for
from gfsvi.auto.targets import (
    Labels,
    Observed,
    observed_labels,
    observed_numbers,
    observed_numbers_of_classes,
)
from gfsvi.auto.units import Feature, features_of
from gfsvi.auto.within_budget import affordable
from gfsvi.data import Data
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.numerics.clock import Clock
from gfsvi.numerics.compilation import let_go_if_many
from gfsvi.numerics.threads import limit_threads
from gfsvi.tables import Preparation, PreparedTable, TimeOrder

Observe = Callable[[np.ndarray, np.ndarray | None], Observed]


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
                return self.observed_numbers_of(y, weights)
            return observed_numbers_of_classes(y, classes, self.parameters.likelihood)

        names, order = preparation.feature_names, table.time_order
        given = GivenRows(table.x, table.y, weights, names, preparation, order)
        return self._learn(given, observe)

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
            return self.observed_numbers_of(y, weights)

        return self._learn(GivenRows(x, y, weights, names), observe)

    def _learn(self, given: GivenRows, observe: Observe) -> Fitted:
        """Fit rows, except those that are set aside."""
        check_parameters(self.parameters, self.prior_scale)
        aside = rows_set_aside(self.parameters, given.y, self.task)
        rows = given
        if aside is not None:
            rows = given._replace(weights=without(aside, given.weights, len(given.x)))
        fitted = self._learn_all(rows, observe)
        if aside is None:
            return dataclasses.replace(fitted, conformal=self.parameters.conformal)
        y = given.y if given.preparation is not None else fitted.target.numbers(given.y)
        return with_rows_set_aside(fitted, Data(given.x, y, given.weights).take(aside))

    def _learn_all(self, given: GivenRows, observe: Observe) -> Fitted:
        """Fit all rows that have a weight: some are judged first, and then learned."""
        let_go_if_many()
        clock = Clock(self.parameters.time_budget)
        given, counted = given.counted()
        order = order_of_rows(self.parameters, given.time_order, len(given.x))
        centre, spread = centre_and_spread(given.x, given.weights)
        with limit_threads(len(given.x)):
            observed = observe(given.y, given.weights)
            features = features_of(given.feature_names, spread, given.preparation)
            rows = Data((given.x - centre) / spread, observed.y, given.weights)
            problem = self._problem(given, rows, observed.likelihood, features, order)
            if self.parameters.num_points is None:
                problem = affordable(problem, self.recipe.method, clock)
            solution = self.solver(features, clock).solve(problem)
        fitted = Fitted(
            **solution.of_first_fit,
            target=observed.target,
            input_centre=centre,
            input_spread=spread,
            feature_names=problem.feature_names,
            are_named=given.names is not None,
            preparation=given.preparation,
            settings=problem.settings,
            validation_rows=counted[problem.apart.judged],
        )
        y = observed.y if isinstance(observed.target, Labels) else given.y
        rows = Data(given.x, y, given.weights)
        method, held_out = type(self.recipe.method), problem.apart.judged
        examination = Examination(rows, counted, held_out, order, method)
        return examination.concluded(fitted, solution.final, clock)

    def _problem(
        self,
        given: GivenRows,
        rows: Data,
        likelihood: AbstractLikelihood,
        features: tuple[Feature, ...],
        order: TimeOrder | None,
    ) -> Problem:
        """The standardised rows, of which the latest in this order, or random ones, are apart."""
        outputs = likelihood.num_outputs(rows.y)
        apart = rows_apart(self.parameters, self.recipe, given.x.shape, order, outputs)
        held_out = len(apart.all)
        return Problem(
            rows=rows,
            apart=apart,
            likelihood=likelihood,
            features=features,
            settings=settings_for(self.parameters, self.recipe, given.x.shape, held_out, outputs),
            separate=time_kernels(self.parameters.kernel, features, given.x),
            in_time_order=given.time_order is not None,
        )

    def solver(self, features: Sequence[Feature], clock: Clock) -> Solver:
        """Solves with the kernel on the standardised scale, in the time that is left."""
        kernel = kernel_in_model_units(self.parameters.kernel, features)
        budget = None if math.isinf(clock.left) else max(clock.left, 1e-3)
        parameters = dataclasses.replace(self.parameters, kernel=kernel, time_budget=budget)
        return Solver(parameters, self.recipe, self.prior_scale)

    def observed_numbers_of(self, y: np.ndarray, weights: np.ndarray | None) -> Observed:
        """Numbers as the model sees them, with their likelihood."""
        given = self.parameters.likelihood
        likelihood = self.recipe.likelihood if isinstance(given, str) and given == "auto" else given
        return observed_numbers(
            y,
            likelihood,
            weights,
            conjugate=self.recipe.method.needs_conjugate,
            adaptive=self.recipe.leaves_rows_out,
        )
