"""Weather in Ankara."""

from gfsvi.bench.data.table_file import AbstractTableFile


class Wankara(AbstractTableFile):
    """Weather in Ankara.

    Nearly linear.
    """

    target = "mean_temperature"
    shape = (321, 9)
    sha256 = "eda22f9e9a14733f745d5bb18357aef09810dbcbcd1b27221b96e61825d697bb"
