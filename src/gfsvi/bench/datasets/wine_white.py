"""Quality of white wine."""

from gfsvi.bench.data.table_file import AbstractTableFile


class WineWhite(AbstractTableFile):
    """Quality of white wine.

    The target is a whole number.
    """

    target = "quality"
    shape = (4898, 11)
    sha256 = "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836"
