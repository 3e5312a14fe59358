"""What the prior assumes, read from its kernel."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gfsvi.functions.base import correlation_lengths
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.kernels.base import ActiveDimensions, Product, Scaled, Shifted, Sum
from gfsvi.numerics.precision import double
from gfsvi.report.case import Case, Column
from gfsvi.report.evidence import KernelPart, PriorEvidence, Relevance

# A part of the kernel that stands on its own, and the features it looks at.
Leaf = tuple[Any, tuple[int, ...]]
# Length scales beyond any table: the feature does not matter, and a page need not say more.
_LONGEST = 1e6


def prior_evidence(case: Case) -> PriorEvidence:
    """Families, periods and length scales of the prior's kernel."""
    features = tuple(range(case.x.shape[1]))
    prior = case.estimator.prior_.function
    if isinstance(prior, BayesianNetwork):  # which treats all standardised columns alike
        alike = tuple(_relevance(case, i, 1.0) for i in features)
        return PriorEvidence((KernelPart("BayesianNetwork", (), ()),), alike)
    leaves = list(_leaves(prior.kernel, features))
    scales = _lengthscales(leaves, len(features))
    if scales is None:
        scales = _measured_lengthscales(case)
    relevances = [_relevance(case, i, scale) for i, scale in enumerate(scales)]
    relevances.sort(key=lambda relevance: -relevance.value)
    parts = tuple(dict.fromkeys(_part(case, leaf) for leaf in leaves))
    return PriorEvidence(parts, tuple(relevances))


def _leaves(kernel: Any, features: tuple[int, ...]) -> Iterator[Leaf]:
    if isinstance(kernel, Sum | Product):
        for inner in kernel.terms if isinstance(kernel, Sum) else kernel.factors:
            yield from _leaves(inner, features)
    elif isinstance(kernel, Scaled | Shifted):
        yield from _leaves(kernel.kernel, features)
    elif isinstance(kernel, ActiveDimensions):
        yield from _leaves(kernel.kernel, tuple(features[i] for i in kernel.dimensions))
    else:
        yield kernel, features


def _lengthscales(leaves: list[Leaf], num_features: int) -> np.ndarray | None:
    """The shortest length scale of each feature over the parts, if any part has one."""
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
    estimator = case.estimator
    inputs = (case.x[case.judged] - estimator.input_centre_) / estimator.input_spread_
    return np.asarray(correlation_lengths(estimator.prior_.function, inputs))


def _relevance(case: Case, position: int, scale: float) -> Relevance:
    name = case.estimator.feature_names_[position]
    # Flags and the columns of a one-hot code have no units of their own.
    has_units = not set(np.unique(case.x[:, position])) <= {0.0, 1.0}
    spread = float(np.asarray(case.estimator.input_spread_)[position])
    return Relevance(name, float(scale), float(scale) * spread if has_units else None)


def _part(case: Case, leaf: Leaf) -> KernelPart:
    kernel, features = leaf
    names = case.estimator.feature_names_
    everywhere = len(features) == len(names)
    period = getattr(kernel, "period", None)
    periods: tuple[tuple[str, float], ...] = ()
    if period is not None:
        own = np.broadcast_to(np.asarray(period, np.float64), (len(features),))
        spread = np.asarray(case.estimator.input_spread_)
        periods = tuple(
            (names[i], float(p * spread[i])) for i, p in zip(features, own, strict=True)
        )
    looked_at = () if everywhere else tuple(names[i] for i in features)
    finite = tuple(pair for pair in periods if math.isfinite(pair[1]))
    return KernelPart(type(kernel).__name__, looked_at, finite)


def columns_by_relevance(case: Case, prior: PriorEvidence) -> tuple[Column, ...]:
    """Columns of the table, each as relevant as its most relevant feature."""
    values = {relevance.feature: relevance.value for relevance in prior.relevances}
    names = case.estimator.feature_names_

    def relevance(column: Column) -> float:
        return max(values[names[i]] for i in column.features)

    return tuple(sorted(case.columns, key=lambda column: -relevance(column)))
