"""Tables of one's own as data sets: `datasets = ["houses.csv:price"]` in an experiment."""

from pathlib import Path
from typing import NamedTuple

from gfsvi.bench.data.dataset import DatasetError, Loaded
from gfsvi.tables import Preparation
from gfsvi.tables.reading import TableError, TableFile
from gfsvi.tables.targets import check_target_names

_ENDINGS = (".csv", ".tsv", ".parquet", ".pq", ".csv.gz", ".tsv.gz")


class OwnTable(NamedTuple):
    """A CSV or Parquet file, and the column to predict."""

    path: str
    target: str

    @classmethod
    def named(cls, name: str) -> "OwnTable | None":
        """The table that a name of the form FILE:COLUMN stands for, if it is one."""
        for ending in _ENDINGS:
            path, found, target = name.partition(f"{ending}:")
            if found and target:
                return cls(f"{path}{ending}", target)
        return None

    def check(self) -> None:
        """Raise unless the file has the column; its rows are not read."""
        try:
            check_target_names(TableFile(self.path).column_names, (self.target,))
        except TableError as error:
            raise DatasetError(str(error)) from error

    def load(self, left_out: tuple[str, ...] = ()) -> Loaded:
        """Read the table; text, dates and missing values become numbers as in `gfsvi fit`."""
        frame = TableFile(self.path).frame().drop(columns=list(left_out))
        preparation = Preparation.learn(frame, self.target, "regression")
        table = preparation.prepare(frame)
        return Loaded({"X": table.x, "y": table.y})


def misspelt(name: str) -> str:
    """What to say about the name of a file without a column to predict."""
    if Path(name).suffix.lower() not in _ENDINGS:
        return ""
    return f" For a table of your own, name the column to predict, too: '{name}:COLUMN'."
