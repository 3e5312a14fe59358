"""The evidence of a model, and the parameters that maximise it."""

from collections.abc import Callable
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.data import Data
from gfsvi.inference.models import GPModel
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.linalg import add_to_diagonal, normal_log_density
from gfsvi.training.history import Fit, History
from gfsvi.training.steps import Parts, Where, learnable_parts

M = TypeVar("M", bound=Model)
Evidence = Callable[[M, Data], Float[Array, ""]]
NOISES = (1.0, 0.1, 0.01)
MAX_ITERATIONS = 200
IMPOSSIBLE = 1e10


def log_marginal_likelihood(
    model: GPModel, batch: Data, scale: float, *, key: PRNGKeyArray
) -> tuple[Float[Array, ""], Parts]:
    """log p(y | x) of a batch under the process and a Gaussian approximation of the likelihood."""
    return scale * log_evidence(model, batch), {}


def log_evidence(model: GPModel, data: Data) -> Float[Array, ""]:
    """log p(y | x) of all rows under the process and a Gaussian approximation of the likelihood."""
    targets = targets_of(model, data, jitter=1e-8)
    values = model.function.at(data.x)
    residual = targets.values - values.mean[: len(targets.values)]
    cov = add_to_diagonal(values.cov, targets.variance)
    return normal_log_density(residual, cov) + jnp.sum(targets.log_factor)


def targets_of(model: GPModel, data: Data, *, jitter: float = 0.0) -> GaussianTargets:
    """The Gaussian regression that approximates the likelihood at these rows, with their weights.

    `jitter` is added to the variance of an observation of weight one.
    """
    likelihood = model.likelihood.at(data.x)
    targets = likelihood.gaussian_targets(data.y, model.function.outputs)
    return targets._replace(variance=targets.variance + jitter).weighted(data.weights)


def perturbed(model: M, *, key: PRNGKeyArray) -> M:
    """The model with every parameter perturbed at random, positive ones by a factor."""
    leaves, structure = jax.tree.flatten(to_free(model))
    keys = jax.random.split(key, len(leaves))
    changed = [
        leaf + jax.random.normal(k, jnp.shape(leaf)) if is_learnable(leaf) else leaf
        for leaf, k in zip(leaves, keys, strict=True)
    ]
    return from_free(jax.tree.unflatten(structure, changed))


def no_history() -> History:
    """The empty history of a closed-form fit."""
    return History({}, np.zeros(0, int), np.zeros(0), 0)


def most_probable(
    evidence: Evidence[M],
    model: M,
    data: Data,
    num_starts: int,
    *,
    key: PRNGKeyArray,
    fixed: Where | None = None,
) -> Fit[M]:
    """The model with the parameters that maximise the evidence, the best of several L-BFGS runs.

    Runs start at the model's own parameters, then at noise 1, 0.1 and 0.01, then at random.
    """
    params, rest = learnable_parts(model, fixed)
    data = jax.tree.map(jnp.asarray, data)
    starts = [_start(params, number, key) for number in range(num_starts)]
    runs = [_run(evidence, start, rest, data) for start in starts]
    best, history = max(runs, key=lambda run: run[1].steps["objective"][-1])
    return Fit(from_free(eqx.combine(best, rest)), history)


def _start(params: PyTree, number: int, key: PRNGKeyArray) -> PyTree:
    """The unconstrained parameters at which run `number` starts."""
    if number == 0:
        return params
    noise = getattr(params.likelihood, "noise", None)
    if noise is not None and number <= len(NOISES):
        there = jnp.full_like(noise, np.log(NOISES[number - 1]))
        return eqx.tree_at(lambda p: p.likelihood.noise, params, there)
    flat, restore = ravel_pytree(params)
    return restore(flat + jax.random.normal(jax.random.fold_in(key, number), flat.shape))


def _run(evidence: Evidence[M], params: PyTree, rest: PyTree, data: Data) -> tuple[PyTree, History]:
    flat, restore = ravel_pytree(params)
    objectives: list[float] = []

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _slope(evidence, restore(jnp.asarray(vector)), rest, data)
        value, gradient = float(value), np.asarray(ravel_pytree(gradient)[0], np.float64)
        if not (np.isfinite(value) and np.all(np.isfinite(gradient))):
            return IMPOSSIBLE, np.zeros_like(gradient)  # makes the line search step back
        return value, gradient

    from scipy.optimize import minimize  # takes a second to import

    first = np.asarray(flat, np.float64)
    objectives.append(-loss(first)[0])
    result = minimize(
        loss,
        first,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: objectives.append(-intermediate_result.fun),
        options={"maxiter": MAX_ITERATIONS, "ftol": 1e-12, "gtol": 1e-7},
    )
    steps = {"objective": np.array([*objectives, -result.fun])}
    return restore(jnp.asarray(result.x)), History(
        steps, np.zeros(0, int), np.zeros(0), len(objectives)
    )


@eqx.filter_jit
def _slope(evidence: Evidence[M], params: PyTree, rest: PyTree, data: Data) -> tuple[Array, PyTree]:
    """Minus the evidence per row, and its gradient."""

    def loss(params: PyTree) -> Array:
        return -evidence(from_free(eqx.combine(params, rest)), data) / len(data)

    return jax.value_and_grad(loss)(params)
