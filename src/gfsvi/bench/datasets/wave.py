"""Wave energy converters."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Wave(AbstractDataset):
    """Wave energy converters."""

    title = "Wave energy converters"
    source = "https://archive.ics.uci.edu/dataset/494"
    licence = "CC BY 4.0, as UCI states"
    target = "total power"
    shape = (288000, 48)
    layouts = (Layout({"": "regression/wave.npz"}),)
    downloads = (
        Download(
            ("https://archive.ics.uci.edu/static/public/494/wave+energy+converters.zip",),
            parsing.zipped("_data.csv", parsing.table(slice(48), 48, separator=",")),
        ),
    )
