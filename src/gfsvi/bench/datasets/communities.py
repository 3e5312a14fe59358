"""Crime in communities of the US."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Communities(AbstractTableFile):
    """Crime in communities of the US.

    Many gaps, and a column of names. Columns describe the racial composition of communities: use it
    for comparisons only.
    """

    target = "violent_crimes"
    shape = (1994, 126)
    sha256 = "550f22d15ae91122af7cde004e62c98a0446440209ebd6fb6da46f955cea5b3f"
