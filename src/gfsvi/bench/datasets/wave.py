"""Wave energy converters."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Layout
from gfsvi.bench.data.sources import UCI_LICENCE, uci_archive, uci_page


class Wave(AbstractDataset):
    """Wave energy converters."""

    source = uci_page(494)
    licence = UCI_LICENCE
    target = "total power"
    shape = (288000, 48)
    layouts = (Layout({"": "regression/wave.npz"}),)
    downloads = (
        uci_archive(
            494,
            "wave+energy+converters.zip",
            parsing.zipped("_data.csv", parsing.table(slice(48), 48, separator=",")),
        ),
    )
