"""Burned area of forest fires in Portugal."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Forestfires(AbstractTableFile):
    """Burned area of forest fires in Portugal.

    Most targets are zero, the others have a heavy tail.
    """

    target = "area"
    shape = (517, 12)
    sha256 = "0d6586a1fa52f55bef48578aef14eb97273f1e9330e1a53423df497a77065253"
