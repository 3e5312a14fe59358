"""How unlike the training inputs a row is."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import ArrayLike

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.conditioned_process import ConditionedProcess
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.model import Model
from gfsvi.numerics.batching import MAX_BLOCK, in_blocks
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.precision import double
from gfsvi.plain.posterior import novelty

MAX_ROWS, MAX_STREAMED = 1000, 400
LONG = 10.0
"""Longer length scales, in standard deviations of a feature, are treated as this one."""


class Novelty(eqx.Module):
    """The share of the prior's variance that remains given the training inputs, in [0, 1].

    The prior is conditioned on where observations were made, not on their values: far from the
    data a network may saturate, whereas the prior's variance returns to its full size. Beyond the
    range of any column the rest of the share is lost, too, over about a standard deviation: a
    prior that hardly varies along a column, such as a date, would call the future known.
    """

    process: ConditionedProcess

    @classmethod
    @double
    def of(cls, prior: Model, data: Data, *, seed: int, num_rows: int | None = None) -> "Novelty":
        """Novelty with respect to `data`, of which at most a thousand random rows are used.

        If `data` is a sample of `num_rows` rows, fewer are: predictions of many rows take time.
        """
        most = MAX_ROWS if num_rows is None else MAX_STREAMED
        rows = np.random.default_rng(seed).permutation(len(data))[:most]
        num_rows = len(data) if num_rows is None else num_rows
        some = data.take(np.sort(rows))
        kernel = _with_evened_lengthscales(prior.function.kernel)
        prior = Model(dataclasses.replace(prior.function, kernel=kernel), prior.likelihood)
        conditioned = _conditioned_in_numpy(prior, some, len(some) / num_rows)
        return cls(conditioned or _conditioned(prior, some, len(some) / num_rows))

    @double
    @np.errstate(all="ignore")  # as silent as JAX, whatever the numbers
    def at(self, x: ArrayLike) -> np.ndarray:
        """Novelty of each row: 0 where the data determine the function, 1 where they do not."""
        rows, known = np.asarray(x, np.float64), np.asarray(self.process.x, np.float64)
        kernel = kernel_in_numpy(self.process.prior.kernel)
        if kernel is None or known.ndim != 2:
            return in_blocks(self.shares, rows)
        factor = np.asarray(self.process.factor[0])
        starts = range(0, len(rows), MAX_BLOCK)
        blocks = (novelty(kernel, known, factor, rows[i : i + MAX_BLOCK]) for i in starts)
        return np.concatenate([np.zeros(0), *blocks])

    @double
    def left_out(self) -> Float[np.ndarray, " row"]:
        """The novelty of each of the training rows that are used, given the others.

        Rasmussen and Williams (2006), equation 5.12, minus the noise.
        """
        factor = np.asarray(self.process.factor[0], np.float64)
        inverse = np.linalg.inv(factor)
        before = np.asarray(self.process.prior.kernel.diagonal(jnp.asarray(self.process.x)))
        noise = np.sum(factor**2, axis=1) - before
        return np.clip((1 / np.sum(inverse**2, axis=0) - noise) / before, 0.0, 1.0)

    def shares(self, x: Float[Array, "row feature"]) -> Float[Array, " row"]:
        """The same for one block of rows in a compiled program."""
        return _share(self.process, x)


class VarianceShare(eqx.Module):
    """The ratio of the posterior's variance to the prior's, in [0, 1].

    For priors that cannot be conditioned on where observations were made: priors over weights,
    and likelihoods without `gaussian_targets`.
    """

    prior: AbstractRandomFunction
    posterior: AbstractRandomFunction

    @double
    def at(self, x: ArrayLike) -> np.ndarray:
        """Novelty of each row: 0 where no variance is left, 1 where all of it is."""
        return in_blocks(self.shares, np.asarray(x, np.float64))

    def shares(self, x: Float[Array, "row feature"]) -> Float[Array, " row"]:
        """What `at` computes, for one block of rows."""
        return _share_of_variance(self.prior, self.posterior, x)


def novelty_of(
    prior: Model, posterior: Model, data: Data, *, seed: int, num_rows: int | None = None
) -> "Novelty | VarianceShare":
    """The measure of novelty that suits the prior."""
    if isinstance(prior.function, GaussianProcess) and prior.likelihood.has_gaussian_targets:
        return Novelty.of(prior, data, seed=seed, num_rows=num_rows)
    return VarianceShare(prior.function, posterior.function)


def _with_evened_lengthscales(kernel: AbstractKernel) -> AbstractKernel:
    """The kernel with each length scale halfway to their mean, on a logarithmic scale.

    A feature that hardly affects the target within the training rows may matter outside of them.
    """
    lengthscale = np.asarray(getattr(kernel, "lengthscale", 0.0))
    if not isinstance(kernel, AbstractStationaryKernel) or lengthscale.ndim == 0:
        return kernel
    bounded = np.minimum(lengthscale, LONG)
    mean = np.exp(np.mean(np.log(bounded)))
    return dataclasses.replace(kernel, lengthscale=np.sqrt(bounded * mean))


@eqx.filter_jit
def _share_of_variance(
    prior: AbstractRandomFunction,
    posterior: AbstractRandomFunction,
    x: Float[Array, "row feature"],
) -> Float[Array, " row"]:
    key = jax.random.key(0)
    left, before = (jnp.mean(f.marginals(x, key=key).variance, axis=0) for f in (posterior, prior))
    return jnp.clip(left / jnp.maximum(before, 1e-12), 0.0, 1.0).astype(jnp.float64)


def _conditioned_in_numpy(prior: Model, data: Data, weight: float) -> ConditionedProcess | None:
    """The same as `_conditioned` without compiling; None if the kernel has no form in NumPy."""
    kernel, x = kernel_in_numpy(prior.function.kernel), np.asarray(data.x, np.float64)
    if kernel is None or x.ndim != 2:
        return None
    y = np.asarray(data.y)
    variance = np.asarray(prior.likelihood.gaussian_targets(y, prior.function.outputs).variance)
    cov = kernel.gram(x)
    cov[np.diag_indices_from(cov)] += np.mean(variance) * weight / np.asarray(data.row_weights)
    factor = np.linalg.cholesky(cov)
    function = GaussianProcess(prior.function.kernel)
    return ConditionedProcess(function, x, factor[None], np.zeros((1, len(x))))


@jit_fast_compile
def _conditioned(prior: Model, data: Data, weight: float) -> ConditionedProcess:
    function = GaussianProcess(prior.function.kernel)
    variance = prior.likelihood.gaussian_targets(data.y, prior.function.outputs).variance
    # A row that represents several counts as several observations, whose noise averages out.
    noise = jnp.broadcast_to(jnp.mean(variance) * weight / data.row_weights, (1, len(data)))
    x = jnp.asarray(data.x, jnp.float64)
    return ConditionedProcess.given(function, x, jnp.zeros_like(noise), noise)


@eqx.filter_jit
def _share(process: ConditionedProcess, x: Float[Array, "row feature"]) -> Float[Array, " row"]:
    left = process.marginals(x).variance[0]
    share = jnp.clip(left / process.prior.marginals(x).variance[0], 0.0, 1.0)
    if x.ndim != 2:
        return share
    known = jnp.asarray(process.x)
    beyond = jnp.maximum(x - known.max(axis=0), known.min(axis=0) - x).max(axis=1).clip(0)
    return 1 - (1 - share) * jnp.exp(-beyond)
