"""Condition-based maintenance of naval propulsion plants."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Naval(AbstractDataset):
    """Condition-based maintenance of naval propulsion plants.

    Two of its features are constant.
    """

    title = "Condition-based maintenance of naval propulsion plants"
    source = "https://archive.ics.uci.edu/dataset/316"
    licence = "CC BY 4.0, as UCI states"
    target = "decay coefficient of the compressor"
    shape = (11934, 16)
    fingerprint = "93a8191280292e80e359355f27fe9f9bc75d7970f83095ca7f21872a8015d278"
    layouts = (Layout({"": "regression/naval.npz"}),)
    downloads = (
        Download(
            (f"{parsing.SPLITS}/naval-propulsion-plant/data/data.txt",),
            parsing.table(slice(16), 16),
        ),
    )
