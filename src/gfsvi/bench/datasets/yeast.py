"""Location of proteins in yeast cells."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Yeast(AbstractTableFile):
    """Location of proteins in yeast cells.

    Ten classes, some of them rare.
    """

    kind = "classification"
    target = "site"
    shape = (1484, 8)
    sha256 = "3f1875d3076f83ed4d70c4d7d2cff34c7cc0aa2cfc1f9fef5fcfcfd517974a61"
