"""What the prior assumes, according to its kernel."""

import math
from collections.abc import Iterator

import numpy as np

from gfsvi.auto.scatter import scatter_in_words
from gfsvi.auto.targets import Numbers, limits_in_words
from gfsvi.auto.turning import turning_distance
from gfsvi.functions.base import correlation_lengths
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.kernels.base import AbstractKernel, ActiveDimensions, Product, Scaled, Shifted, Sum
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.likelihoods.normal import Normal
from gfsvi.numerics.precision import double
from gfsvi.numerics.quantities import time_text
from gfsvi.report.case import Case, Column
from gfsvi.report.evidence import Distance, KernelPart, LengthScale, PriorEvidence
from gfsvi.report.predictions import HALF_WIDTH_95

# A kernel that is not made of others, and the positions of the features that it sees.
Leaf = tuple[AbstractKernel, tuple[int, ...]]
# Stands for the length scale of features that no kernel with a length scale sees.
_LONGEST = 1e6
MAX_TURNING = 3
"""Columns of a table for which it is said how often the function changes direction."""


def prior_evidence(case: Case) -> PriorEvidence:
    """Collect the families, periods and length scales of the prior's kernel."""
    features = tuple(range(case.x.shape[1]))
    prior = case.fitted.prior.function
    limits = _observations_in_words(case)
    if isinstance(prior, BayesianNetwork):  # which treats all standardized columns alike
        alike = tuple(_length_scales(case, np.ones(len(features))))
        return PriorEvidence((KernelPart("BayesianNetwork", (), ()),), alike, limits)
    leaves = list(leaves_of(prior.kernel, features))
    values = shortest_lengthscales(leaves, len(features))
    if values is None:
        values = _measured_lengthscales(case)
    scales = _length_scales(case, values)
    scales.sort(key=lambda scale: scale.value)
    parts = tuple(dict.fromkeys(_part(case, leaf) for leaf in leaves))
    return PriorEvidence(parts, tuple(scales), limits, *_in_pictures(case))


def _in_pictures(case: Case) -> tuple[tuple[Distance, ...], tuple[float, float] | None]:
    """What functions of the prior look like, where they are on the scale of the target."""
    prior, target = case.fitted.prior, case.fitted.target
    kernel = composed_in_numpy(prior.function.kernel)
    if kernel is None or not isinstance(target, Numbers) or np.size(target.spread) != 1:
        return (), None
    if not isinstance(prior.likelihood, Normal):  # the function is on another scale
        return (), None
    x = case.fitted.standardized(case.x)
    half = HALF_WIDTH_95 * float(np.sqrt(np.mean(kernel.diagonal(x))) * target.spread)
    turns = []
    for column in case.columns if len(case.columns) <= MAX_TURNING else ():
        number = column.features[0]
        width = float(np.ptp(x[:, number]))
        distance = turning_distance(kernel, np.median(x, axis=0), number, width)
        if column.levels is None and distance is not None:
            length = distance * float(np.asarray(case.fitted.input_spread)[number])
            turns.append(Distance(column.name, length, column.first_day is not None))
    centre = float(np.reshape(target.centre, ()))
    return tuple(turns), (centre - half, centre + half)


def _observations_in_words(case: Case) -> str | None:
    """What is known of observations around the function."""
    fitted = case.fitted
    known = (
        limits_in_words(fitted.prior.likelihood, fitted.target),
        scatter_in_words(fitted.posterior.likelihood, fitted.standardized(case.x)),
    )
    return " ".join(sentence for sentence in known if sentence) or None


def leaves_of(kernel: AbstractKernel, features: tuple[int, ...]) -> Iterator[Leaf]:
    """The kernels that a kernel is made of, and the features that each of them sees."""
    if isinstance(kernel, Sum | Product):
        for inner in kernel.terms if isinstance(kernel, Sum) else kernel.factors:
            yield from leaves_of(inner, features)
    elif isinstance(kernel, Scaled | Shifted):
        yield from leaves_of(kernel.kernel, features)
    elif isinstance(kernel, ActiveDimensions):
        yield from leaves_of(kernel.kernel, tuple(features[i] for i in kernel.columns))
    else:
        yield kernel, features


def shortest_lengthscales(leaves: list[Leaf], num_features: int) -> np.ndarray | None:
    """Return the shortest length scale of each feature, or None if no kernel has one."""
    shortest, found = np.full(num_features, _LONGEST), False
    for kernel, features in leaves:
        scale = getattr(kernel, "lengthscale", None)
        if scale is None or not features:
            continue
        found = True
        columns = list(features)
        own = np.broadcast_to(np.asarray(scale, np.float64), (len(columns),))
        shortest[columns] = np.minimum(shortest[columns], own)
    return shortest if found else None


@double
def _measured_lengthscales(case: Case) -> np.ndarray:
    inputs = case.fitted.standardized(case.x[case.judged])
    return np.asarray(correlation_lengths(case.fitted.prior.function, inputs))


def _length_scales(case: Case, values: np.ndarray) -> list[LengthScale]:
    """The shortest length scale among the features of each column."""
    return [_length_scale(case, column, values) for column in case.columns]


def _length_scale(case: Case, column: Column, values: np.ndarray) -> LengthScale:
    position = min(column.features, key=lambda i: values[i])
    value = float(values[position])
    # Flags and one-hot features have no units.
    has_units = not set(np.unique(case.x[:, position])) <= {0.0, 1.0}
    in_units = value * float(np.asarray(case.fitted.input_spread)[position]) if has_units else None
    return LengthScale(column.name, value, in_units, column.first_day is not None and has_units)


def _part(case: Case, leaf: Leaf) -> KernelPart:
    kernel, features = leaf
    names = case.fitted.feature_names
    everywhere = len(features) == len(names)
    period = getattr(kernel, "period", None)
    periods: tuple[tuple[str, float | str], ...] = ()
    dates = {c.features[0]: c.name for c in case.columns if c.first_day is not None}
    shown = {i: dates.get(i, name) for i, name in enumerate(names)}
    if period is not None:
        own = np.broadcast_to(np.asarray(period, np.float64), (len(features),))
        spread = np.asarray(case.fitted.input_spread)
        lengths = own * spread[list(features)]
        periods = tuple(
            (shown[i], time_text(length) if i in dates else float(length))
            for i, length in zip(features, lengths, strict=True)
            if math.isfinite(length)
        )
    seen = () if everywhere else tuple(shown[i] for i in features)
    return KernelPart(type(kernel).__name__, seen, periods)


def periods_of(kernel: AbstractKernel, num_features: int) -> np.ndarray:
    """The period along each feature that a kernel sees; none if it does not repeat."""
    period = getattr(kernel, "period", None)
    if period is None:
        return np.zeros(0)
    return np.broadcast_to(np.asarray(period, np.float64), (num_features,))
