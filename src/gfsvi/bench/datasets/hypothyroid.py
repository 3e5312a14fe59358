"""Diagnosis of hypothyroidism."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Hypothyroid(AbstractTableFile):
    """Diagnosis of hypothyroidism.

    Many gaps, and a rare class.
    """

    kind = "classification"
    target = "diagnosis"
    shape = (3163, 25)
    sha256 = "cc227676f6ec69de6491f5c8be9b0c9a6a00c5652f75c6eef511c1c0e8d6a3cc"
