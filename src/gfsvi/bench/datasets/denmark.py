"""3D road network of North Jutland."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Denmark(AbstractDataset):
    """3D road network of North Jutland."""

    title = "3D road network of North Jutland"
    source = "https://archive.ics.uci.edu/dataset/246"
    licence = "CC BY 4.0, as UCI states"
    target = "altitude, in m"
    shape = (434874, 2)
    layouts = (
        Layout({"": "regression/denmark.npz"}),
        Layout({"": "regression/denmark_5000.npz"}, partial="5000 of 434874 rows"),
    )
    downloads = (
        Download(
            (
                "https://archive.ics.uci.edu/static/public/246/3d+road+network+north+jutland+denmark.zip",
            ),
            parsing.zipped(".txt", parsing.table(slice(1, 3), 3, separator=",")),
        ),
    )
