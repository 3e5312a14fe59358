"""Acceptability of cars."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Car(AbstractTableFile):
    """Acceptability of cars.

    Categories only.
    """

    kind = "classification"
    target = "acceptability"
    shape = (1728, 6)
    sha256 = "48d4e5c8bafd418e39a2e793f446562ea810b571b9666be8b0eac34dee342548"
