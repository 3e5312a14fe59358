"""From blocks to kernels: as a user would write them, on the standardised scale, and in NumPy."""

import functools
import operator

import numpy as np

from gfsvi.auto.units import in_model_units
from gfsvi.kernels import AbstractKernel, Known
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.numerics import quantities
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.studio.blocks import FAMILIES, Factor, Term
from gfsvi.studio.workspace import Workspace

EXACT = 1e-9
"""The relative error that a short text of a time may have."""


def kernel_as_written(workspace: Workspace) -> AbstractKernel:
    """The kernel with names of columns and distances in their units; all of it is known."""
    return Known(_sum(workspace))


def kernel_of(workspace: Workspace) -> AbstractKernel:
    """The kernel on the standardised scale of features and target."""
    return in_model_units(_sum(workspace), workspace.scale.features)


def plain_kernel(kernel: AbstractKernel) -> KernelInNumpy:
    """The kernel in NumPy, which every block has."""
    plain = composed_in_numpy(kernel)
    if plain is None:
        raise ValueError("expected blocks that NumPy can evaluate; got others.")
    return plain


def length_text(length: float, is_date: bool) -> str:
    """A distance in the units of a column, as kernels accept it: "3 weeks", "50"."""
    if not is_date:
        return f"{length:.12g}"
    text = quantities.time_text(length)
    is_exact = abs(quantities.parsed(text).days - length) <= EXACT * length
    return text if is_exact else f"{length:.12g} days"


def grid_of(workspace: Workspace, num_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions along the column that is looked at, and the features there (point, feature)."""
    view, chosen = workspace.view, workspace.column(workspace.view.column)
    along = np.linspace(view.low, view.high, num_points)
    if chosen.kind == "category":
        along = np.arange(len(chosen.levels), dtype=np.float64)
    features = np.zeros((len(along), len(workspace.scale.features)))
    for column in workspace.columns:
        held = view.at.get(column.name, column.middle)
        values = along if column is chosen else np.full(len(along), held)
        if column.kind == "category":
            level = np.clip(np.round(values).astype(int), 0, len(column.levels) - 1)
            features[np.arange(len(along)), np.array(column.features)[level]] = 1.0
        else:
            features[:, column.features[0]] = values  # a mark of missing values stays 0
    return along, features


def _sum(workspace: Workspace) -> AbstractKernel:
    return functools.reduce(operator.add, (_term(workspace, term) for term in workspace.terms))


def _term(workspace: Workspace, term: Term) -> AbstractKernel:
    factors = [_factor(workspace, factor) for factor in term.factors]
    variance = (term.std / workspace.scale.target_spread) ** 2
    return float(f"{variance:.10g}") * functools.reduce(operator.mul, factors)


def _factor(workspace: Workspace, factor: Factor) -> AbstractKernel:
    family, unit = FAMILIES[factor.family], workspace.unit_of(factor)
    values = {
        name: length_text(factor.values[name], unit.is_date)
        if parameter.unit and unit is not None
        else factor.values[name]
        for name, parameter in family.parameters.items()
    }
    kernel = family.kernel(**values)
    return kernel.on(*factor.columns) if factor.columns else kernel
