"""Costs of health insurance."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Insurance(AbstractTableFile):
    """Costs of health insurance.

    Skewed, with categories.
    """

    target = "charges"
    shape = (1338, 6)
    sha256 = "388eff679557d08ac19f463d025de5e0b4adc482537c8456d19934d78621fd47"
