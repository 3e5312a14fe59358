"""Kernels in the units of a table's columns, and on the standardised scale of a fit.

A user writes `Periodic(period="1 year").on("date")`; the fit sees a column of days since the first
date, divided by its standard deviation. A quantity is known and stays as it is; one that begins
with "~" is where learning starts, as a plain number is.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeGuard

import equinox as eqx
import numpy as np

from gfsvi.kernels.base import (
    AbstractCombined,
    AbstractKernel,
    ActiveDimensions,
    Product,
    Sum,
)
from gfsvi.kernels.known import Known
from gfsvi.numerics import quantities
from gfsvi.numerics.constraints import DISTANCE
from gfsvi.tables import Date, Preparation
from gfsvi.tables.columns import AbstractMeasurement
from gfsvi.tables.sentences import nearest


class Feature(NamedTuple):
    """A standardised feature: the column it is made from, and how to convert distances."""

    name: str
    column: str
    spread: float
    is_date: bool = False
    is_mark: bool = False


def features_of(
    names: Sequence[str], spread: np.ndarray | float, preparation: Preparation | None
) -> tuple[Feature, ...]:
    """The features of a fit; without a table, each is a column of its own."""
    spreads = np.broadcast_to(spread, (len(names),)).tolist()
    if preparation is None:
        return tuple(map(Feature, names, names, spreads))
    owners = [
        (column, number)
        for column in preparation.columns
        for number in range(len(column.feature_names))
    ]
    return tuple(
        Feature(
            name,
            column.name,
            width,
            isinstance(column, Date) and number == 0,
            isinstance(column, AbstractMeasurement) and number > 0,
        )
        for name, width, (column, number) in zip(names, spreads, owners, strict=True)
    )


def in_model_units(kernel: AbstractKernel, features: Sequence[Feature]) -> AbstractKernel:
    """The kernel with numbers of features, and with distances on their standardised scale."""
    return _mapped(kernel, tuple(features), _to_number)


def in_user_units(kernel: AbstractKernel, features: Sequence[Feature]) -> AbstractKernel:
    """The kernel as a user would write it: names of columns, and distances in their units.

    A kernel of several features keeps its numbers, in standard deviations.
    """
    return _mapped(kernel, tuple(features), _to_text)


def has_units(kernel: object) -> TypeGuard[AbstractKernel]:
    """Whether a kernel names columns or has distances in their units."""
    return isinstance(kernel, AbstractKernel) and "'" in kernel.code()


Features = tuple[Feature, ...]
Convert = Callable[[AbstractKernel, str, Feature], object]


def _mapped(kernel: AbstractKernel, seen: Features, convert: "Convert") -> AbstractKernel:
    """Convert the distances of a kernel that sees these features."""
    if isinstance(kernel, Sum):
        return Sum(tuple(_mapped(term, seen, convert) for term in kernel.terms))
    if isinstance(kernel, Product):
        return Product(tuple(_mapped(part, seen, convert) for part in kernel.factors))
    if isinstance(kernel, Known):  # its numbers are known as they are
        return _mapped(kernel.kernel, seen, convert)
    if isinstance(kernel, AbstractCombined):
        inner = _mapped(kernel.kernel, seen, convert)
        return eqx.tree_at(lambda k: k.kernel, kernel, inner)
    if isinstance(kernel, ActiveDimensions):
        return _on_features(kernel, seen, convert)
    for field in dataclasses.fields(kernel):
        if field.metadata.get(DISTANCE):
            kernel = _converted(kernel, field.name, seen, convert)
    return kernel


def _on_features(kernel: ActiveDimensions, seen: Features, convert: "Convert") -> AbstractKernel:
    positions = _positions(kernel, seen)
    chosen = tuple(seen[position] for position in positions)
    inner = _mapped(kernel.kernel, chosen, convert)
    if convert is _to_text:
        return ActiveDimensions(inner, tuple(dict.fromkeys(f.column for f in chosen)))
    return ActiveDimensions(inner, positions)


def _positions(kernel: ActiveDimensions, seen: Features) -> tuple[int, ...]:
    """The features that a kernel is restricted to; a column stands for all that it becomes."""
    if not isinstance(kernel.dimensions[0], str):
        return kernel.columns
    positions: list[int] = []
    for wanted in map(str, kernel.dimensions):
        found = [i for i, f in enumerate(seen) if wanted == f.name]
        found = found or [i for i, f in enumerate(seen) if wanted == f.column and not f.is_mark]
        if not found:
            columns = list(dict.fromkeys(feature.column for feature in seen))
            raise ValueError(
                f"kernel.on expects columns that the model uses; got `{wanted}`. "
                f"{nearest(wanted, columns)}"
            )
        positions += found
    return tuple(positions)


def _converted(
    kernel: AbstractKernel, name: str, seen: Features, convert: "Convert"
) -> AbstractKernel:
    given = getattr(kernel, name)
    if len(seen) != 1:
        if not isinstance(given, str):
            return kernel
        raise ValueError(
            f"{type(kernel).__name__} expects a {name} in units for one column; got {given!r} for "
            f"{len(seen)}: {', '.join(f.column for f in seen[:5])}. Restrict the kernel: "
            f'kernel.on("{seen[0].column if seen else "column"}").'
        )
    return eqx.tree_at(lambda k: getattr(k, name), kernel, convert(kernel, name, seen[0]))


def _to_number(kernel: AbstractKernel, name: str, feature: Feature) -> object:
    given = getattr(kernel, name)
    if not isinstance(given, str):
        return given
    quantity = quantities.parsed(given)
    if feature.is_date != (quantity.unit is not None):
        wanted = 'a time such as "3 weeks"' if feature.is_date else 'a number alone, such as "50"'
        raise ValueError(
            f"{type(kernel).__name__} expects {wanted} as the {name} of column "
            f"{feature.column!r}; got {given!r}."
        )
    length = quantity.days if feature.is_date else quantity.value
    number = length / feature.spread
    return number if quantity.is_exact else np.array(number)


def _to_text(kernel: AbstractKernel, name: str, feature: Feature) -> object:
    given = getattr(kernel, name)
    if isinstance(given, str) or np.size(given) != 1:
        return given
    length = float(np.reshape(given, ())) * feature.spread
    text = quantities.time_text(length) if feature.is_date else f"{length:.4g}"
    return text if isinstance(given, float) else f"~{text}"
