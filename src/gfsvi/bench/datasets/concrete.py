"""Concrete compressive strength."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Concrete(AbstractDataset):
    """Concrete compressive strength."""

    title = "Concrete compressive strength"
    source = "https://archive.ics.uci.edu/dataset/165"
    licence = "CC BY 4.0, as UCI states"
    target = "strength, in MPa"
    shape = (1030, 8)
    fingerprint = "003785de945be9bd54ed4df3fb5a76ae4848d5f68fc5a39036ba8f1985e9a494"
    layouts = (Layout({"": "regression/concrete.npz"}),)
    downloads = (
        Download((f"{parsing.SPLITS}/concrete/data/data.txt",), parsing.table(slice(8), 8)),
    )
