"""Relative performance of processors."""

from gfsvi.bench.data.table_file import AbstractTableFile


class CPU(AbstractTableFile):
    """Relative performance of processors.

    Few rows, skewed, with a text that differs in every row.
    """

    target = "performance"
    shape = (209, 8)
    sha256 = "694a938c188a97809dd502d3c55056baaa52ebf6cb6bca20f923d20a39ecd845"
