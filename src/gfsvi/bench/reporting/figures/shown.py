"""The records that a figure is drawn from."""

import dataclasses

import numpy as np

from gfsvi.bench.running.records import Record

BLUE, ORANGE, GREEN, PINK, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"
COLOURS = (BLUE, ORANGE, GREEN, PINK, "#e69f00", SKY, "#000000", "#999999")
"""Palette of Okabe and Ito, which colour-blind readers can distinguish."""


@dataclasses.dataclass(frozen=True)
class Shown:
    """One record per label, with the title of each label.

    Args:
        records: Records of the first data set, by label.
        titles: Titles, by label.
        others: Records of the other data sets, by data set and label.
    """

    records: dict[str, Record]
    titles: dict[str, str]
    others: dict[str, dict[str, Record]] = dataclasses.field(default_factory=dict)

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets."""
        return [*dict.fromkeys(r["dataset"] for r in self.records.values()), *self.others]

    def of(self, dataset: str) -> "Shown":
        """The records of one of the data sets."""
        return Shown(self.others.get(dataset, self.records), self.titles)

    def series(self, label: str, name: str) -> np.ndarray:
        """A series of a record."""
        return np.array(self.records[label].get("series", {})[name])

    def has(self, label: str, name: str) -> bool:
        """Whether a record has a series of that name with at least one entry."""
        return bool(self.records[label].get("series", {}).get(name))

    def metric(self, label: str, name: str) -> float:
        """A metric of a record."""
        return self.records[label]["metrics"][name]
