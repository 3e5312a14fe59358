"""The state of a page: what the prior is, what the data are, and what is looked at."""

import dataclasses
from typing import Any

import numpy as np

from gfsvi.auto.units import Feature
from gfsvi.numerics.batching import spreads
from gfsvi.studio.blocks import FAMILIES, Factor, Term
from gfsvi.studio.fields import FieldPrior
from gfsvi.studio.reading import Reader, WorkspaceError, text_item, whole_item

FORMAT = 1
MAX_ROWS = 400
"""Of a table that are looked at live; a full fit uses all of them."""
MAX_COLUMNS, MAX_FEATURES = 60, 300
MAX_TERMS, MAX_FACTORS = 6, 4
MAX_WIDTH, MAX_LAYERS = 200, 3
KINDS = ("number", "date", "category")
SOURCES = ("none", "points", "table")


@dataclasses.dataclass(frozen=True)
class Column:
    """A column that the function depends on.

    Args:
        name: Its name.
        kind: Whether it holds numbers, dates (days since the first one) or categories.
        low: The smallest value.
        high: The largest value.
        middle: Where the function is looked at unless a slider says otherwise; of categories, the
            position among the levels.
        first: The first date.
        levels: Of categories, one per feature.
        features: The positions of its features.
    """

    name: str
    kind: str
    low: float
    high: float
    middle: float
    first: str
    levels: tuple[str, ...]
    features: tuple[int, ...]

    @classmethod
    def read(cls, content: Any) -> "Column":
        """Read a column."""
        reader = Reader(content, "a column")
        kind = reader.choice("kind", KINDS)
        low, high = reader.number("low", 0.0), reader.number("high", 1.0)
        if not low < high:
            raise WorkspaceError(f"a column expects low < high; got {low:g} and {high:g}.")
        return cls(
            reader.text("name"),
            kind,
            low,
            high,
            reader.number("middle", (low + high) / 2),
            reader.text("first", ""),
            reader.list("levels", text_item, MAX_FEATURES),
            reader.list("features", whole_item, MAX_FEATURES, 1),
        )


@dataclasses.dataclass(frozen=True)
class Scale:
    """How features and target are standardised, as a fit does."""

    features: tuple[Feature, ...]
    centre: np.ndarray
    target_centre: float
    target_spread: float

    @property
    def spread(self) -> np.ndarray:
        """The spread of each feature."""
        return np.array([feature.spread for feature in self.features])

    def inputs(self, x: np.ndarray) -> np.ndarray:
        """Features on the standardised scale."""
        return (x - self.centre) / self.spread

    def targets(self, y: np.ndarray) -> np.ndarray:
        """Targets on the standardised scale."""
        return (y - self.target_centre) / self.target_spread

    def values(self, f: np.ndarray) -> np.ndarray:
        """Function values in the units of the target."""
        return self.target_centre + self.target_spread * f


@dataclasses.dataclass(frozen=True)
class View:
    """What is looked at: along one column, the others held where sliders are."""

    column: str
    low: float
    high: float
    at: dict[str, float]
    num_draws: int
    seed: int

    @classmethod
    def read(cls, reader: Reader) -> "View":
        """Read what is looked at."""
        low, high = reader.number("low"), reader.number("high")
        if not low < high:
            raise WorkspaceError(f"view expects low < high; got {low:g} and {high:g}.")
        held = reader.inner("at")
        at = {name: held.number(name) for name in held.names()}
        draws, seed = reader.whole("draws", 5, 0, 20), reader.whole("seed", 0, 0, 2**31 - 1)
        return cls(reader.text("column"), low, high, at, draws, seed)


@dataclasses.dataclass(frozen=True)
class Workspace:
    """All that a page shows, as plain data.

    Args:
        kind: Whether the prior is about a function or about a field of vectors in the plane.
        columns: What the function depends on.
        scale: How features and target are standardised.
        target: The name of what is predicted.
        terms: Blocks that are added.
        field: The prior over fields.
        noise: The standard deviation of observations, in units of the target.
        hidden: The widths of the network's layers.
        source: Where the rows come from.
        table: The identity of the table, if there is one.
        table_name: Its name.
        x: Features of the rows that are looked at, (row, feature).
        y: Their targets, (row,), or (row, 2) for a field.
        view: What is looked at.
    """

    kind: str
    columns: tuple[Column, ...]
    scale: Scale
    target: str
    terms: tuple[Term, ...]
    field: FieldPrior
    noise: float
    hidden: tuple[int, ...]
    source: str
    table: str
    table_name: str
    x: np.ndarray
    y: np.ndarray
    view: View

    @classmethod
    def read(cls, content: Any) -> "Workspace":
        """Read a workspace; raise with one sentence if it is none."""
        reader = Reader(content, "a workspace")
        if reader.whole("format", 0, 0, 10**6) != FORMAT:
            raise WorkspaceError(
                f"expected a workspace of format {FORMAT}, as `gfsvi studio` saves it; got another "
                "file. Choose one that the studio has saved."
            )
        kind = reader.choice("kind", ("function", "field"), "function")
        columns = reader.list("columns", Column.read, MAX_COLUMNS, 1)
        rows, source = reader.inner("rows"), reader.inner("source")
        where = source.choice("kind", SOURCES, "none")
        num_features = sum(len(column.features) for column in columns)
        x = rows.array("x", (num_features,), 2 * MAX_ROWS)
        y = rows.array("y", () if kind == "function" else (2,), 2 * MAX_ROWS)
        if len(x) != len(y):
            raise WorkspaceError(
                f"a workspace expects a target for each row; got {len(x)} rows and {len(y)} "
                "targets."
            )
        scale = _scale(reader, columns, num_features)
        if where == "points" and kind == "function":
            scale = _scale_of_points(scale, x, y)
        found = cls(
            kind,
            columns,
            scale,
            reader.inner("target").text("name"),
            reader.list("terms", Term.read, MAX_TERMS, 1),
            FieldPrior.read(reader.inner("field")),
            reader.number("noise", positive=True),
            reader.list("hidden", whole_item, MAX_LAYERS, 1),
            where,
            source.text("id", ""),
            source.text("name", ""),
            x,
            y,
            View.read(reader.inner("view")),
        )
        found.check()
        return found

    def check(self) -> None:
        """Raise if parts do not fit together."""
        names = [column.name for column in self.columns]
        positions = [number for column in self.columns for number in column.features]
        if len(set(names)) < len(names) or sorted(positions) != list(range(len(positions))):
            raise WorkspaceError("a workspace expects columns of different names and features.")
        for column in self.columns:
            if column.kind == "category" and len(column.levels) != len(column.features):
                raise WorkspaceError("a workspace expects a level for each feature of categories.")
        used = {name for term in self.terms for f in term.factors for name in f.columns}
        for name in (*used, self.view.column, *self.view.at):
            if name not in names:
                raise WorkspaceError(
                    f"a workspace expects its own columns, {', '.join(names[:5])}; got {name!r}."
                )
        for factor in (factor for term in self.terms for factor in term.factors):
            self._check_factor(factor)
        if any(not 1 <= width <= MAX_WIDTH for width in self.hidden):
            raise WorkspaceError(f"hidden expects widths from 1 to {MAX_WIDTH}.")

    def _check_factor(self, factor: Factor) -> None:
        missing = set(FAMILIES[factor.family].parameters) - set(factor.values)
        if missing:
            raise WorkspaceError(f"a block expects {', '.join(sorted(missing))}; got none.")

    def column(self, name: str) -> Column:
        """The column of that name."""
        return next(column for column in self.columns if column.name == name)

    def features_seen(self, factor: Factor) -> tuple[int, ...]:
        """The positions of the features that a block sees."""
        seen = factor.columns or tuple(column.name for column in self.columns)
        return tuple(
            number
            for name in seen
            for number in self.column(name).features
            if not self.scale.features[number].is_mark
        )

    def unit_of(self, factor: Factor) -> Feature | None:
        """The feature in whose units a block is stated; None for standard deviations."""
        seen = self.features_seen(factor)
        one = len(seen) == 1 and self.column_of(seen[0]).kind != "category"
        return self.scale.features[seen[0]] if one else None

    def column_of(self, feature: int) -> Column:
        """The column that a feature belongs to."""
        return next(column for column in self.columns if feature in column.features)


def _scale(reader: Reader, columns: tuple[Column, ...], num_features: int) -> Scale:
    features = reader.list("features", _read_feature, MAX_FEATURES)
    if not features:  # without data, the scale of the model is that of the axes
        features = tuple((Feature(c.name, c.name, 1.0, c.kind == "date"), 0.0) for c in columns)
    if len(features) != num_features:
        raise WorkspaceError("a workspace expects the scale of each feature of its columns.")
    target = reader.inner("target")
    return Scale(
        tuple(feature for feature, _ in features),
        np.array([centre for _, centre in features]),
        target.number("centre", 0.0),
        target.number("spread", 1.0, positive=True),
    )


def _read_feature(content: Any) -> tuple[Feature, float]:
    reader = Reader(content, "a feature")
    feature = Feature(
        reader.text("name"),
        reader.text("column"),
        reader.number("spread", positive=True),
        reader.flag("is_date"),
        reader.flag("is_mark"),
    )
    return feature, reader.number("centre")


def _scale_of_points(scale: Scale, x: np.ndarray, y: np.ndarray) -> Scale:
    """The scale that a fit to these points would have."""
    if len(x) < 2:
        return scale
    features = zip(scale.features, spreads(x), strict=True)
    spread = float(np.std(y)) or 1.0
    return Scale(
        tuple(feature._replace(spread=float(width)) for feature, width in features),
        x.mean(axis=0),
        float(np.mean(y)),
        spread,
    )
