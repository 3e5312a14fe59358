"""Tables that were opened: named on the command line, or sent by the page."""

import dataclasses
import hashlib
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np

from gfsvi.auto.units import features_of
from gfsvi.numerics.batching import spreads
from gfsvi.report.formatting import count
from gfsvi.studio.reading import WorkspaceError
from gfsvi.studio.workspace import MAX_COLUMNS, MAX_FEATURES, MAX_ROWS
from gfsvi.tables import Preparation
from gfsvi.tables.columns import AbstractColumn, Categories, Date
from gfsvi.tables.reading import TableFile

if TYPE_CHECKING:
    import pandas

MAX_TABLES = 8
MAX_NOTES = 6


@dataclasses.dataclass(frozen=True)
class Table:
    """A table that is open: its bytes for a full fit, and its rows."""

    identity: str
    name: str
    data: bytes
    frame: "pandas.DataFrame"

    @property
    def summary(self) -> dict[str, Any]:
        """What the page has to know to ask for a target."""
        numeric = [str(n) for n in self.frame.columns if self.frame[n].dtype.kind in "fiu"]
        return {
            "id": self.identity,
            "name": self.name,
            "columns": [str(name) for name in self.frame.columns],
            "numeric": numeric,
            "num_rows": len(self.frame),
        }


class Tables:
    """The tables that are open, the latest few; a table is known by its content."""

    def __init__(self) -> None:
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, name: str, data: bytes) -> Table:
        """Read a table; the same bytes are the same table."""
        identity = hashlib.sha256(data + b"\0" + name.encode()).hexdigest()[:16]
        with self._lock:
            if identity in self._tables:
                return self._tables[identity]
        table = Table(identity, name, data, TableFile(name, data).frame())
        with self._lock:
            self._tables[identity] = table
            while len(self._tables) > MAX_TABLES:
                self._tables.popitem(last=False)
        return table

    def __getitem__(self, identity: str) -> Table:
        with self._lock:
            if identity not in self._tables:
                raise WorkspaceError(
                    "expected a table that is open; this one is not, since the studio was started "
                    "again. Open the file again."
                )
            self._tables.move_to_end(identity)
            return self._tables[identity]


def rows_of(table: Table, target: str) -> dict[str, Any]:
    """The parts of a workspace that come from a table: columns, scales, and a sample of rows."""
    preparation = Preparation.learn(table.frame, target, "regression")
    prepared = preparation.prepare(table.frame)
    x, y = prepared.x, prepared.y
    if x.shape[1] > MAX_FEATURES or len(preparation.columns) > MAX_COLUMNS:
        raise WorkspaceError(
            f"the studio expects at most {MAX_COLUMNS} columns; got {len(preparation.columns)} "
            f"that become {x.shape[1]} features. Leave some out, or use `gfsvi fit`."
        )
    if len(x) < 2:
        raise WorkspaceError(f"expected two rows or more with a value of `{target}`; got {len(x)}.")
    features = features_of(preparation.feature_names, spreads(x), preparation)
    return {
        **_shown(table, preparation, x, y),
        "features": [
            {**feature._asdict(), "centre": float(centre)}
            for feature, centre in zip(features, x.mean(axis=0), strict=True)
        ],
        "target": {"name": target, "centre": float(y.mean()), "spread": float(np.std(y)) or 1.0},
    }


def field_rows_of(table: Table, first: str, second: str) -> dict[str, Any]:
    """The same for a field: two columns of positions, and two of the components."""
    if first == second:
        raise WorkspaceError(f"a field expects two different components; got `{first}` twice.")
    preparation = Preparation.learn(table.frame, [first, second], "regression")
    prepared = preparation.prepare(table.frame)
    found = _shown(table, preparation, prepared.x, prepared.y)
    kinds = [column["kind"] for column in found["columns"]]
    if kinds != ["number", "number"]:
        names = ", ".join(column["name"] for column in found["columns"])
        raise WorkspaceError(
            "a field expects a table with two columns of positions and two of components; got "
            f"{names} besides the components. Leave the others out."
        )
    return {**found, "features": [], "second": second, "target": {"name": first, "spread": 1.0}}


def _shown(table: Table, preparation: Preparation, x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Columns, a sample of rows, and where they come from."""
    chosen = np.sort(np.random.default_rng(0).permutation(len(x))[:MAX_ROWS])
    positions = preparation.features_of_columns
    return {
        "columns": [
            _column(column, positions[column.name], x)
            for column in preparation.columns
            if column.name in positions
        ],
        "rows": {"x": x[chosen].tolist(), "y": y[chosen].tolist()},
        "source": {
            "kind": "table",
            "id": table.identity,
            "name": table.name,
            "num_rows": len(x),
            "sample": _sample_in_words(len(x)),
            "notes": list(preparation.notes[:MAX_NOTES]),
        },
    }


def _sample_in_words(num_rows: int) -> str:
    if num_rows <= MAX_ROWS:
        return f"All {count(num_rows)} rows are used."
    return (
        f"Looked at live: a random sample of {count(MAX_ROWS)} of {count(num_rows)} rows. "
        "The full fit uses all of them."
    )


def _column(column: AbstractColumn, features: tuple[int, ...], x: np.ndarray) -> dict[str, Any]:
    values = x[:, features[0]]
    low, high = float(values.min()), float(values.max())
    found = {
        "name": column.name,
        "kind": "date" if isinstance(column, Date) else "number",
        "low": low,
        "high": high if high > low else low + 1.0,
        "middle": float(np.median(values)),
        "first": column.first if isinstance(column, Date) else "",
        "levels": [],
        "features": list(features),
    }
    if isinstance(column, Categories):
        levels = [name.removeprefix(f"{column.name} ") for name in column.feature_names]
        middle = int(np.argmax(x[:, features].sum(axis=0)))
        found |= {"kind": "category", "levels": [text.removeprefix("= ") for text in levels]}
        found |= {"low": 0.0, "high": max(1.0, len(levels) - 1.0), "middle": float(middle)}
    return found
