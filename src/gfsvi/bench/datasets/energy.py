"""Energy efficiency."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Energy(AbstractDataset):
    """Energy efficiency."""

    title = "Energy efficiency"
    source = "https://archive.ics.uci.edu/dataset/242"
    licence = "CC BY 4.0, as UCI states"
    target = "heating load"
    shape = (768, 8)
    fingerprint = "89361dc3207ab0b68024f7cb7c206519f2f9ae707d0d8f94e34309256992a9ff"
    layouts = (Layout({"": "regression/energy.npz"}),)
    downloads = (Download((f"{parsing.SPLITS}/energy/data/data.txt",), parsing.table(slice(8), 8)),)
