"""The function at every training row, given all other rows, in closed form."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.data import Data
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.conjugate_fit import pseudo_targets
from gfsvi.inference.evidence import targets_of
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.model import Model
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, inverse_from_cholesky
from gfsvi.numerics.precision import double
from gfsvi.values import Independent

MAX_ROWS = 1000
"""Of a process that is not conditioned yet, a matrix over all rows is inverted."""
LARGEST_LEVERAGE = 1 - 1e-9


@double
def leave_one_out(model: Model, data: Data) -> Independent | None:
    """The function's values at each row of `data`, given all other rows.

    Rows that are equal are left out of a posterior together: a copy would give the row away.

    Args:
        model: A closed-form posterior that was fitted to these rows, or a Gaussian-process prior
            with a likelihood that is Gaussian on some scale.
        data: The rows.

    Returns:
        The marginals, or None for other models, and for a prior with more than a thousand rows.
    """
    if isinstance(model.function, ConjugateNetwork):
        return _of_posterior(model, data)
    is_exact = model.likelihood.conjugate and isinstance(model.function, GaussianProcess)
    if not is_exact or len(data) > MAX_ROWS:
        return None
    return _of_prior(model, jax.tree.map(jnp.asarray, data))


def _of_posterior(model: Model[ConjugateNetwork, AbstractLikelihood], data: Data) -> Independent:
    """With leverage h, residuals and variances grow by 1 / (1 - h) without the row itself."""
    data = Data(data.x, data.y, data.weights_with_copies)
    process = model.function.in_numpy
    if process is not None:
        mean, known, left = process.parts(np.asarray(data.x, np.float64))
    else:
        mean, known, left = map(np.asarray, _variances(model.function, jnp.asarray(data.x)))
    targets = _targets(model, data, mean, known + left)
    y, noise = np.asarray(targets.values), np.asarray(targets.variance)
    kept = 1 - np.minimum(known / noise, LARGEST_LEVERAGE)
    return Independent(y - (y - mean) / kept, known / kept + left)


def _targets(
    model: Model[ConjugateNetwork, AbstractLikelihood],
    data: Data,
    mean: np.ndarray,
    variance: np.ndarray,
) -> GaussianTargets:
    """The Gaussian regression that the posterior solves."""
    likelihood = model.likelihood.at(np.asarray(data.x, np.float64))
    if not likelihood.solved_as_normal:
        return pseudo_targets(likelihood, data, mean, variance)
    return likelihood.gaussian_targets(data.y, len(mean)).weighted(data.weights)


@jit_fast_compile
def _variances(function: ConjugateNetwork, x: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    return function.variances(x)


@jit_fast_compile
def _of_prior(prior: Model, data: Data) -> Independent:
    """Rasmussen and Williams (2006), equations 5.10 to 5.12, minus the noise."""
    targets = targets_of(prior, data)
    values = prior.function.at(data.x)
    noise = jnp.broadcast_to(targets.variance, values.mean.shape)
    factor = cholesky(add_to_diagonal(values.cov, noise))
    precision = inverse_from_cholesky(factor)
    spread = jnp.diagonal(precision, axis1=-2, axis2=-1)
    pulled = (precision @ (targets.values - values.mean)[..., None])[..., 0]
    return Independent(targets.values - pulled / spread, jnp.maximum(1 / spread - noise, 0.0))
