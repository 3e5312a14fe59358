"""Inference on the standardised scale: choose the prior, fit under it, and examine the result."""

import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import equinox as eqx
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.auto.agreement import agreed
from gfsvi.auto.all_rows import with_all_rows
from gfsvi.auto.members import joined, mixture
from gfsvi.auto.novelty import novelty_of
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.phases import DIAGNOSTICS, EXAMINATION, LAST_FIT, MEMBERS, Phases, of_second_network
from gfsvi.auto.priors import blank_prior, chosen_prior, kernels_named
from gfsvi.auto.problem import Problem, Solution
from gfsvi.auto.recipe import Recipe
from gfsvi.auto.seasons import with_future
from gfsvi.auto.settings import Settings, streamed_points
from gfsvi.auto.sizing import choice_within, network_for, sized
from gfsvi.auto.within_budget import simpler_fit, work_of
from gfsvi.diagnostics import diagnose
from gfsvi.kernels.base import AbstractKernel
from gfsvi.methods.base import AbstractMethod, Precompiled
from gfsvi.model import Model
from gfsvi.networks.base import AbstractNetwork
from gfsvi.numerics.precision import to_numpy
from gfsvi.numerics.randomness import folded
from gfsvi.storage import model_file
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.training.history import Fit
from gfsvi.version import __version__

RANDOM = "rbg"
"""A generator of JAX that compiles three times faster than the default."""


@dataclasses.dataclass(frozen=True)
class Solver:
    """Solves problems by a recipe.

    Args:
        parameters: The parameters of the fit, its kernel on the standardised scale.
        recipe: The method and how its prior is chosen.
        prior_scale: The standard deviation of weights, for methods with a prior over weights.
    """

    parameters: Parameters
    recipe: Recipe
    prior_scale: float = 1.0

    def solve(self, problem: Problem) -> Solution:
        """Choose the prior, fit under it, examine the result, and learn the held-out rows."""
        parameters, settings = self.parameters, problem.settings
        words = np.random.SeedSequence(settings.seed).generate_state(4)
        random = jax.random.wrap_key_data(words, impl=RANDOM)
        key, prior_key, fit_key = (folded(random, number) for number in range(3))
        budget, work = parameters.time_budget, work_of(problem, self.recipe.method, in_haste=True)
        reserved = None if budget is None or work is None else work.seconds() / work.num_fits
        again = reserved if reserved and problem.apart.validates_apart else 0.0
        phases = Phases(self._checkpoints(problem), parameters.watch, budget, reserved, again)
        outputs = problem.num_outputs
        network = network_for(parameters.network, self.recipe.method, settings, outputs)
        method = sized(self.recipe, settings, network, phases)
        prior, fitted_by, fit = self._fit(
            problem, method, network, phases, prior_key=prior_key, fit_key=fit_key
        )
        first, history = to_numpy((fit.posterior, fit.history))
        posterior, unseen = joined(
            problem,
            prior,
            first,
            parameters,
            key=folded(key, 1),
            solve=partial(self._solved_again, network, phases, folded(fit_key, 1)),
            clock=phases.clock_of(MEMBERS),
            begin=phases.begin,
        )
        phases.begin(EXAMINATION)
        options = {} if problem.stream is None else {"num_rows": problem.num_rows}
        novelty = novelty_of(prior, first, problem.rows, seed=settings.seed, **options)
        novelty = to_numpy(novelty)
        wanted = wanted_settings(parameters, self.recipe, problem)
        simpler = simpler_fit(wanted, settings, phases.cut)
        diagnostics = () if simpler is None else (simpler,)
        if phases.clock_of(DIAGNOSTICS).is_over():
            return Solution(prior, posterior, history, novelty, diagnostics, unseen)
        diagnostics += diagnose(
            prior,
            Model(first.function, posterior.likelihood),
            problem.data,
            method=fitted_by,
            history=history,
            feature_names=problem.feature_names,
            key=key,
        )
        final = None
        if phases.has_time_for(again, LAST_FIT):
            final = to_numpy(with_all_rows(method, prior, posterior, problem, key=fit_key))
        return Solution(prior, posterior, history, novelty, diagnostics, unseen, final)

    def _fit(
        self,
        problem: Problem,
        method: AbstractMethod,
        network: AbstractNetwork,
        phases: Phases,
        *,
        prior_key: PRNGKeyArray,
        fit_key: PRNGKeyArray,
    ) -> tuple[Model, AbstractMethod, Fit]:
        """The chosen prior, the method with measurement points for it, and the fit."""
        data, validation = problem.data, problem.validation
        prior, others = self._blank_prior(problem, method, network)
        # Compiling the fit takes as long as choosing the prior: both at once.
        with ThreadPoolExecutor(max_workers=1) as pool:
            if isinstance(method, Precompiled):
                pool.submit(method.precompile, prior, data, key=fit_key, validation=validation)
            prior = chosen_prior(
                prior,
                data,
                choice_within(self.recipe.choice, phases),
                key=prior_key,
                others=others,
                separate=problem.separate,
                always_separate=problem.in_time_order,
            )
            method = with_future(method, prior.function, data.x, problem.features)
            rows = data
            if problem.stream is not None:
                on_added = phases.posterior_of_rows(problem.stream.num_own_rows)
                rows = dataclasses.replace(problem.stream, on_added=on_added)
                prior = agreed(rows.group, prior)
            fit = method(prior, rows, key=fit_key, validation=validation)
        more = [
            method(prior, rows, key=folded(fit_key, number), validation=validation).posterior
            for number in range(1, self.parameters.members)
        ]
        return prior, method, fit if not more else Fit(mixture(fit.posterior, more), fit.history)

    def _solved_again(
        self, network: AbstractNetwork, phases: Phases, key: PRNGKeyArray, problem: Problem
    ) -> tuple[Model, Model]:
        """Prior and posterior of another problem with rows of the same kind."""
        left = phases.clock_of(MEMBERS).left
        budget = None if math.isinf(left) else max(0.1, left)
        work = work_of(problem, self.recipe.method, in_haste=True)
        reserved = None if budget is None or work is None else work.seconds() / work.num_fits
        again = Phases(None, of_second_network(self.parameters.watch), budget, reserved)
        method = sized(self.recipe, problem.settings, network, again)
        keys = {"prior_key": folded(key, 1), "fit_key": folded(key, 2)}
        prior, _, fit = self._fit(problem, method, network, again, **keys)
        return prior, to_numpy(fit.posterior)

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


def wanted_settings(parameters: Parameters, recipe: Recipe, problem: Problem) -> Settings:
    """The sizes of a fit to the rows of a problem, without a time limit."""
    held_out, outputs = len(problem.apart.all), problem.num_outputs
    if problem.stream is None:
        return settings_for(parameters, recipe, problem.rows.x.shape, held_out, outputs)
    shape = (len(problem.stream) + held_out, *problem.rows.x.shape[1:])
    return settings_of_stream(parameters, recipe, shape, held_out, outputs)


def settings_of_stream(
    parameters: Parameters,
    recipe: Recipe,
    shape: tuple[int, ...],
    num_held_out: int,
    num_outputs: int,
) -> Settings:
    """The sizes of a fit to rows that are read from a stream, where points take time per row."""
    if parameters.num_points is None:
        parameters = dataclasses.replace(parameters, num_points=streamed_points(num_outputs))
    return settings_for(parameters, recipe, shape, num_held_out, num_outputs)


def settings_for(
    parameters: Parameters,
    recipe: Recipe,
    shape: tuple[int, ...],
    num_held_out: int,
    num_outputs: int,
) -> Settings:
    """The sizes of a fit to an array of rows of this shape, without a time limit."""
    given = ("hidden", "num_points", "gamma", "num_steps", "batch_size")
    return Settings.derive(
        recipe.method,
        shape[0] - num_held_out,
        num_held_out,
        shape[1:],
        num_outputs,
        int(parameters.random_state),
        **{name: getattr(parameters, name) for name in given},
    )
