"""What a picture is drawn from."""

import dataclasses
from typing import Any

import numpy as np

from gfsvi.bench.running.records import Record

BLUE, ORANGE, GREEN, PINK, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"
COLOURS = (BLUE, ORANGE, GREEN, PINK, "#e69f00", SKY, "#000000", "#999999")
"""Okabe and Ito's, which the colour-blind can tell apart."""


@dataclasses.dataclass(frozen=True)
class Shown:
    """A record for each label, and what the label is called for people.

    Args:
        records: Of the first data set, by label.
        titles: By label.
        others: Records of the other data sets, likewise.
    """

    records: dict[str, Record]
    titles: dict[str, str]
    others: dict[str, dict[str, Record]] = dataclasses.field(default_factory=dict)

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets."""
        return [*dict.fromkeys(r["dataset"] for r in self.records.values()), *self.others]

    def of(self, dataset: str) -> "Shown":
        """The same for one of the data sets."""
        return Shown(self.others.get(dataset, self.records), self.titles)

    def series(self, label: str, name: str) -> np.ndarray:
        """A series of a record."""
        return np.array(self.records[label]["series"][name])

    def metric(self, label: str, name: str) -> Any:
        """A metric of a record."""
        return self.records[label]["metrics"][name]
