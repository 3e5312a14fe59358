"""Whether the prior's parameters are plausible."""

import dataclasses
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic
from gfsvi.diagnostics.examined import Examined
from gfsvi.diagnostics.noise import mean_noise
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.base import AbstractKernel, ActiveDimensions
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.compilation import jit_fast_compile
from gfsvi.numerics.types import Points

# Over the range of the data, such a function varies by 2 % of its standard deviation.
MAX_RANGES = 50.0
# A neighbour with this correlation explains 1 % of the variance, next to nothing.
MIN_CORRELATION = 0.1
# How many rows have their nearest neighbour sought, and among how many.
QUERY_ROWS, NEIGHBOUR_ROWS = 64, 10_000
# A prior this much wider than the target says next to nothing, one as much narrower too much.
MAX_SPREAD_RATIO = 30.0
MAX_NAMES = 5


def features_ignored(examined: Examined) -> Diagnostic | None:
    """Features along which the prior is practically constant."""
    prior, x = examined.run.prior.function, np.asarray(examined.run.data.x)
    if not isinstance(prior, GaussianProcess) or x.ndim != 2:
        return None
    ranges = np.ptp(x, axis=0)
    lengths = shortest_lengths(prior.kernel, x.shape[1])
    ignored = np.flatnonzero((ranges > 0) & (lengths > MAX_RANGES * ranges))
    if not len(ignored):
        return None
    names = [examined.run.feature_names[i] for i in ignored[:MAX_NAMES]]
    more = f" and {len(ignored) - MAX_NAMES} more" if len(ignored) > MAX_NAMES else ""
    least = float(np.min(lengths[ignored] / ranges[ignored]))
    return Diagnostic(
        "features_ignored",
        "note",
        "The prior ignores some features",
        f"The target is assumed not to depend on {', '.join(names)}{more}: the length scale is at "
        f"least {least:.3g} times the range of the data ({len(ignored)} of {x.shape[1]} features).",
        "Nothing to do if that is plausible; otherwise give the kernel a shorter length scale.",
    )


def shortest_lengths(kernel: AbstractKernel, num_features: int) -> np.ndarray:
    """The shortest length scale of each feature in any part; 0 if a part has none."""
    lengths = np.full(num_features, np.inf)
    for features, length in _lengths(kernel, np.arange(num_features)):
        lengths[features] = np.minimum(lengths[features], length)
    return np.where(np.isfinite(lengths), lengths, 0.0)


def _lengths(
    kernel: AbstractKernel, features: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray | float]]:
    if isinstance(kernel, ActiveDimensions):
        yield from _lengths(kernel.kernel, features[list(kernel.columns)])
    elif isinstance(kernel, AbstractStationaryKernel):
        yield features, np.asarray(kernel.lengthscale, np.float64)
    else:
        parts = _parts(kernel)
        for part in parts:
            yield from _lengths(part, features)
        if not parts:  # a kernel that is not known to ignore a feature
            yield features, 0.0


def _parts(kernel: AbstractKernel) -> list[AbstractKernel]:
    values = [getattr(kernel, field.name) for field in dataclasses.fields(kernel)]
    spread = [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
    return [value for value in spread if isinstance(value, AbstractKernel)]


def prior_is_white_noise(examined: Examined) -> Diagnostic | None:
    """Whether rows tell nothing about their nearest neighbours."""
    correlation = neighbour_correlation(examined)
    if correlation is None or not correlation < MIN_CORRELATION:
        return None
    return Diagnostic(
        "prior_is_white_noise",
        "warning",
        "The prior is like white noise",
        f"Rows carry no information about each other, so new ones are predicted by the mean: the "
        f"median correlation between a row and its closest other row is {correlation:.2g}.",
        "Give the kernel a longer length scale, or start its choice from one; "
        "check that the features are standardised.",
    )


def neighbour_correlation(examined: Examined) -> float | None:
    """Median over rows of the largest prior correlation with a different row."""
    prior, data = examined.run.prior.function, examined.run.data
    if not isinstance(prior, GaussianProcess) or len(data) < 2:
        return None
    x = np.asarray(data.x[:NEIGHBOUR_ROWS], np.float64)
    queries = x[:: max(1, len(x) // QUERY_ROWS)][:QUERY_ROWS]
    kernel = kernel_in_numpy(prior.kernel) if x.ndim == 2 else None
    if kernel is None:
        correlations = np.asarray(_correlations(prior.kernel, queries, x))
    else:
        size = np.sqrt(kernel.diagonal(queries)[:, None] * kernel.diagonal(x))
        correlations = np.abs(kernel.cross(queries, x)) / np.where(size > 0, size, np.inf)
    flat_queries, flat = np.reshape(queries, (len(queries), -1)), np.reshape(x, (len(x), -1))
    same = np.stack([np.all(flat == row, axis=1) for row in flat_queries])
    largest = np.max(np.where(same, -np.inf, correlations), axis=1)
    largest = largest[np.isfinite(largest)]
    return float(np.median(largest)) if len(largest) else None


@jit_fast_compile
def _correlations(kernel: AbstractKernel, x: Points, z: Points) -> Points:
    size = jnp.sqrt(kernel.diagonal(x)[:, None] * kernel.diagonal(z))
    return jnp.abs(kernel.cross(x, z)) / jnp.where(size > 0, size, jnp.inf)


def prior_out_of_scale(examined: Examined) -> Diagnostic | None:
    """Whether the prior expects values of a different size than the target has, without noise."""
    if examined.observations is None:
        return None
    target = float(np.std(examined.observations.targets))
    expected = float(np.sqrt(np.mean(np.diagonal(examined.prior_cov)[examined.num_measured :])))
    noise = mean_noise(examined.run.posterior.likelihood) or 0.0
    if expected < target < 2 * noise:  # as where the features say nothing
        return None
    ratio = expected / target if target > 0 else 1.0
    if 1 / MAX_SPREAD_RATIO <= ratio <= MAX_SPREAD_RATIO:
        return None
    direction = "wider" if ratio > 1 else "narrower"
    return Diagnostic(
        "prior_out_of_scale",
        "note",
        f"The prior is far {direction} than the target",
        f"Where data are few, predictions follow the prior: it expects a standard deviation of "
        f"{expected:.2g} at the rows, and the target has {target:.2g}.",
        "Set the kernel's variance by hand, or standardise the target.",
    )
