"""Types of glass."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Glass(AbstractTableFile):
    """Types of glass.

    Six classes, few rows.
    """

    kind = "classification"
    target = "type"
    shape = (214, 9)
    sha256 = "6a4556ed7e2e748f643388db3f58fe15e0a97aad2f5373623ff011bb27576bbd"
