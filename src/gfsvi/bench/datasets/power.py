"""Combined cycle power plant."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Power(AbstractDataset):
    """Combined cycle power plant."""

    title = "Combined cycle power plant"
    source = "https://archive.ics.uci.edu/dataset/294"
    licence = "CC BY 4.0, as UCI states"
    target = "net hourly electrical output, in MW"
    shape = (9568, 4)
    fingerprint = "3fa6a84a2d12093f08f5fffcd837c8b8601055ce0e1066d76681732b778770cb"
    layouts = (Layout({"": "regression/power.npz"}),)
    downloads = (
        Download((f"{parsing.SPLITS}/power-plant/data/data.txt",), parsing.table(slice(4), 4)),
    )
