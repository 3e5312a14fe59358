"""What a Gaussian process says about rows that neither it nor its parameters have seen.

Leaving a row out in closed form keeps the parameters of the prior, which have seen it: with many
length scales and few rows its predictions look much better than those of a new row are. Here the
rows are divided into folds, and the search for the parameters goes on without each of them.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable
from typing import cast

import numpy as np
from jaxtyping import Float, PRNGKeyArray, UInt64
from scipy.linalg import cho_factor, cho_solve

from gfsvi.data import Data, row_codes
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.means import Zero
from gfsvi.inference.unknowns import is_in_numpy
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.likelihoods.normal import Normal
from gfsvi.methods.evidence_search import EvidenceSearch
from gfsvi.model import Model
from gfsvi.numerics.randomness import folded, generator
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.prior_means.folds import folds_of
from gfsvi.training.optimizers import LBFGS
from gfsvi.training.settings import Training
from gfsvi.values import Independent


@dataclasses.dataclass(frozen=True)
class UnseenValues:
    """The function at training rows, without what these rows taught.

    Args:
        codes: A number for each row, by which it is found again.
        mean: The mean of the function there.
        variance: Its variance.
    """

    codes: UInt64[np.ndarray, " row"]
    mean: Float[np.ndarray, "output row"]
    variance: Float[np.ndarray, "output row"]

    @classmethod
    def of(cls, x: np.ndarray, values: Independent) -> "UnseenValues":
        """The values at these rows."""
        moments = (np.asarray(part, np.float64) for part in (values.mean, values.variance))
        return cls(row_codes(x), *moments)

    def at(self, x: np.ndarray) -> Independent | None:
        """The values at some of the rows; None if there are others among them."""
        order = np.argsort(self.codes)
        codes = row_codes(x)
        place = order[np.minimum(np.searchsorted(self.codes, codes, sorter=order), len(order) - 1)]
        if not np.array_equal(self.codes[place], codes):
            return None
        return Independent(self.mean[:, place], self.variance[:, place])


NUM_STEPS, MOST_ROWS = 25, 500
"""Of the search that goes on without a fold."""
JITTER = 1e-8


def unseen_values(
    prior: Model[GaussianProcess, Normal],
    data: Data,
    *,
    key: PRNGKeyArray,
    is_over: Callable[[], bool] | None = None,
) -> Independent | None:
    """The function at each row given the rows of other folds, and parameters chosen by them.

    Args:
        prior: A process of mean zero with normal noise, whose parameters suit all rows.
        data: The rows, whose observations are the function plus noise.
        key: Determines the folds.
        is_over: Asked whether the time is over.

    Returns:
        Means and variances (output, row); None if the kernel needs JAX or the time is over.
    """
    kernel = composed_in_numpy(prior.function.kernel)
    x = np.asarray(data.x, np.float64)
    if kernel is None or not isinstance(prior.function.mean, Zero) or not is_in_numpy(prior, x):
        return None
    search = EvidenceSearch(
        training=Training(num_steps=NUM_STEPS, optimizer=LBFGS(), is_over=is_over),
        max_rows=MOST_ROWS,
    )
    folds = folds_of(x, seed=int(generator(key).integers(2**31)))
    mean, variance = np.zeros((2, prior.function.outputs, len(x)))
    for fold in np.unique(folds):
        if is_over is not None and is_over():
            return None
        kept, rest = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        found = search.refined(prior, data.take(kept), key=folded(key, int(fold)))
        mean[:, rest], variance[:, rest] = _conditioned(found, data.take(kept), x[rest])
    return Independent(mean, variance)


def _conditioned(
    model: Model[GaussianProcess, Normal], data: Data, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the function at other rows, (output, row)."""
    kernel = cast(KernelInNumpy, composed_in_numpy(model.function.kernel))
    known, y = np.asarray(data.x, np.float64), np.asarray(data.y, np.float64)
    y = y.reshape(len(y), -1).T
    noise = np.broadcast_to(np.ravel(np.asarray(model.likelihood.noise)), len(y))
    gram, cross = kernel.cross(known, known), kernel.cross(x, known)
    found = []
    for targets, level in zip(y, noise, strict=True):
        spread = (level**2 + JITTER) / np.asarray(data.row_weights)
        factor = cho_factor(gram + np.diag(spread), lower=True)
        explained = np.sum(cross * cho_solve(factor, cross.T).T, axis=1)
        found.append((cross @ cho_solve(factor, targets), kernel.diagonal(x) - explained))
    means, variances = (np.stack(part) for part in zip(*found, strict=True))
    return means, np.maximum(variances, 0.0)
