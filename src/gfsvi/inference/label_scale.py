"""The scale of a prior for labels, by leaving rows out.

The evidence of a prior for labels is that of a Gaussian regression that stands in for them, whose
targets have a size of their own. Here the labels themselves decide on the variance of the prior:
under each of several, the exact process is fitted to some rows by natural gradients, and every row
is predicted without itself.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable

import numpy as np
from jaxtyping import Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.inference.conjugate_fit import between, pseudo_targets
from gfsvi.inference.models import GPModel
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.likelihoods.base import AbstractLabelLikelihood, AbstractLikelihood
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.precision import double
from gfsvi.numerics.randomness import generator
from gfsvi.plain.evidence import inverse_with_noise

FACTORS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Of the variance that the evidence prefers."""
MAX_ROWS, MIN_ROWS = 400, 200
NUM_ROUNDS, NUM_DRAWS, NUM_ERRORS = 8, 128, 3
SMALLEST = 1e-10

PerRow = Float[np.ndarray, "output row"]


@double
def scaled_for_labels(
    prior: GPModel,
    data: Data,
    *,
    key: PRNGKeyArray,
    stop: Callable[[], bool] | None = None,
) -> GPModel:
    """The prior with the variance under which left-out labels are most probable.

    It is changed only if that is better beyond three standard errors: length scales have been
    chosen by the same rows. A prior of anything but labels,
    or with a kernel or mean that NumPy cannot evaluate, stays as it is, and so does one for which
    `stop`, asked between the regressions, says that there is no time.
    """
    kernel = kernel_in_numpy(prior.function.kernel)
    is_table = np.ndim(data.x) == 2
    if kernel is None or not is_table or not isinstance(prior.likelihood, AbstractLabelLikelihood):
        return prior
    random = generator(key)
    count = max(MIN_ROWS, round(MAX_ROWS / max(1.0, prior.function.outputs / 2) ** 0.5))
    rows = data.take(np.sort(random.permutation(len(data))[:count]))
    gram = kernel.gram(np.asarray(rows.x, np.float64))
    mean = np.broadcast_to(
        np.asarray(prior.function.mean.at(rows.x)), (prior.function.outputs, len(rows))
    )
    draws = random.normal(size=(NUM_DRAWS, *mean.shape))
    found, targets = {}, None
    for factor in FACTORS:
        fitted = _left_out(factor * gram, prior.likelihood, rows, mean, targets, stop)
        if fitted is None:
            return prior
        left_out, targets = fitted
        found[factor] = _log_probabilities(left_out, draws, np.asarray(rows.y, int))
    best = max(FACTORS, key=lambda factor: np.mean(found[factor]))
    gains = found[best] - found[1.0]
    if np.mean(gains) <= NUM_ERRORS * np.std(gains) / len(gains) ** 0.5:
        return prior
    function = dataclasses.replace(prior.function, kernel=best * prior.function.kernel)
    return type(prior)(function, prior.likelihood)


def _left_out(
    gram: Float[np.ndarray, "row row"],
    likelihood: AbstractLikelihood,
    rows: Data,
    prior_mean: PerRow,
    start: GaussianTargets | None,
    stop: Callable[[], bool] | None = None,
) -> tuple[tuple[PerRow, PerRow], GaussianTargets] | None:
    """Means and variances at every row given all others, and what stands for the labels.

    None if there is no time for it.
    """
    targets = start
    if targets is None:
        targets = pseudo_targets(likelihood, rows, prior_mean, np.ones_like(prior_mean))
    mean = variance = left_mean = left_variance = prior_mean
    for number in range(NUM_ROUNDS):
        if stop is not None and stop():
            return None
        if number:
            fresh = pseudo_targets(likelihood, rows, mean, variance)
            targets = between(targets, fresh, 0.5)
        values, noise = np.asarray(targets.values), np.asarray(targets.variance)
        inverse = np.stack([inverse_with_noise(gram, of_output)[0] for of_output in noise])
        pulled = np.einsum("ors,os->or", inverse, values - prior_mean)
        spread = np.diagonal(inverse, axis1=1, axis2=2)
        mean, variance = values - noise * pulled, noise - noise**2 * spread
        # Rasmussen and Williams (2006), equations 5.10 to 5.12, minus the noise
        left_mean, left_variance = values - pulled / spread, 1 / spread - noise
        variance = np.maximum(variance, SMALLEST)
    left_variance = np.maximum(left_variance, SMALLEST)
    return (left_mean, left_variance), targets


def _log_probabilities(
    moments: tuple[PerRow, PerRow], draws: Float[np.ndarray, "draw output row"], y: np.ndarray
) -> Float[np.ndarray, " row"]:
    """The log probability of each label; one output is the log-odds of the second class."""
    mean, variance = moments
    f = mean + np.sqrt(variance) * draws
    if f.shape[1] == 1:
        f = np.concatenate([np.zeros_like(f), f], axis=1)
    f = f - f.max(axis=1, keepdims=True)
    log_probabilities = f - np.log(np.sum(np.exp(f), axis=1, keepdims=True))
    chosen = log_probabilities[:, y, np.arange(len(y))]
    return np.log(np.maximum(np.mean(np.exp(chosen), axis=0), SMALLEST))
