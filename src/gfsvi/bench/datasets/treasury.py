"""Interest rates of the US treasury."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Treasury(AbstractTableFile):
    """Interest rates of the US treasury.

    Hardly any noise.
    """

    target = "rate_1month"
    shape = (1049, 15)
    sha256 = "78692c6e84dbc4486449ff7607ca923e4ff0cf5e407ed59a461abf3b3ed2784f"
