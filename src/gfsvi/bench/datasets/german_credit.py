"""Credit risk."""

from gfsvi.bench.data.table_file import AbstractTableFile


class GermanCredit(AbstractTableFile):
    """Credit risk.

    Columns describe sex and origin of people: use it for comparisons only.
    """

    kind = "classification"
    target = "credit"
    shape = (1000, 20)
    sha256 = "523d48a7bac9019bee883f4e261d77980adbd2e63e413fcefa1f17a741c641d1"
