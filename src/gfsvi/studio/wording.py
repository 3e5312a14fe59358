"""What a prior says, in the sentences of the report."""

import dataclasses

import numpy as np

from gfsvi.auto.turning import turning_distance
from gfsvi.auto.units import Feature
from gfsvi.kernels import AbstractKernel, Sum
from gfsvi.numerics.quantities import time_text
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.report.assumptions import Leaf, leaves_of, periods_of
from gfsvi.report.evidence import Distance, KernelPart, PriorEvidence
from gfsvi.report.predictions import HALF_WIDTH_95
from gfsvi.report.prior_words import prior_sentences
from gfsvi.studio.workspace import Workspace

_DRIFTING = ("RBF", "Matern52", "Matern32", "Matern12", "RationalQuadratic")


def sentences_of(
    workspace: Workspace, kernel: AbstractKernel, plain: KernelInNumpy, x: np.ndarray
) -> list[str]:
    """The sentences about a prior that is looked at at `x`; `backticks` mark names.

    Args:
        workspace: Has the columns and their scale.
        kernel: The prior on the standardised scale.
        plain: The same kernel in NumPy.
        x: Standardised points along the column that is looked at.
    """
    terms = kernel.terms if isinstance(kernel, Sum) else (kernel,)
    parts = tuple(dict.fromkeys(part for term in terms for part in _parts(workspace, term)))
    evidence = PriorEvidence(
        parts,
        (),
        turns=_turns(workspace, plain, x),
        values=_values(workspace, plain, x),
    )
    return prior_sentences(evidence, [workspace.target])


def _parts(workspace: Workspace, term: AbstractKernel) -> list[KernelPart]:
    """What a product of blocks says; one that repeats and changes has a shape that drifts."""
    leaves = list(leaves_of(term, tuple(range(len(workspace.scale.features)))))
    parts = [_part(workspace, leaf) for leaf in leaves]
    repeating = [part for part in parts if part.family == "Periodic"]
    drifting = [part for part in parts if part.family in _DRIFTING]
    if not (repeating and drifting and len({part.features for part in parts}) == 1):
        return parts
    return [dataclasses.replace(part, family="LocallyPeriodic") for part in repeating]


def _part(workspace: Workspace, leaf: Leaf) -> KernelPart:
    kernel, seen = leaf
    features = workspace.scale.features
    everywhere = len(seen) == len(features) and len(workspace.columns) > 1
    names = () if everywhere else tuple(dict.fromkeys(features[i].column for i in seen))
    periods = tuple(
        _period(features[i], float(period))
        for i, period in zip(seen, periods_of(kernel, len(seen)), strict=False)
    )
    return KernelPart(type(kernel).__name__, names, periods)


def _period(feature: Feature, length: float) -> tuple[str, float | str]:
    own = length * feature.spread
    return feature.column, time_text(own) if feature.is_date else own


def _in_units(feature: Feature, length: float) -> Distance:
    return Distance(feature.column, length * feature.spread, feature.is_date)


def _turns(workspace: Workspace, plain: KernelInNumpy, x: np.ndarray) -> tuple[Distance, ...]:
    column = workspace.column(workspace.view.column)
    if column.kind == "category":
        return ()
    number = column.features[0]
    feature = workspace.scale.features[number]
    width = (column.high - column.low) / feature.spread
    distance = turning_distance(plain, x[len(x) // 2], number, width)
    return () if distance is None else (_in_units(feature, distance),)


def _values(workspace: Workspace, plain: KernelInNumpy, x: np.ndarray) -> tuple[float, float]:
    std = float(np.sqrt(np.mean(plain.diagonal(x)))) * workspace.scale.target_spread
    centre = workspace.scale.target_centre
    return centre - HALF_WIDTH_95 * std, centre + HALF_WIDTH_95 * std
