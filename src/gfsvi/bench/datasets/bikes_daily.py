"""Bicycles rented per day."""

from gfsvi.bench.data.table_file import AbstractTableFile


class BikesDaily(AbstractTableFile):
    """Bicycles rented per day.

    Dates and counts; two columns that sum to the target are left out.
    """

    target = "cnt"
    left_out = ("casual", "registered")
    shape = (730, 13)
    sha256 = "57dfb1d3290d30e7d3392f1b90b8470cfce648d04fe39ee1b04ae7a8c578ddea"
