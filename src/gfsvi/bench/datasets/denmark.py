"""3D road network of North Jutland."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Layout
from gfsvi.bench.data.sources import UCI_LICENCE, uci_archive, uci_page


class Denmark(AbstractDataset):
    """3D road network of North Jutland."""

    source = uci_page(246)
    licence = UCI_LICENCE
    target = "altitude, in m"
    shape = (434874, 2)
    layouts = (
        Layout({"": "regression/denmark.npz"}),
        Layout({"": "regression/denmark_5000.npz"}, partial="5000 of 434874 rows"),
    )
    downloads = (
        uci_archive(
            246,
            "3d+road+network+north+jutland+denmark.zip",
            parsing.zipped(".txt", parsing.table(slice(1, 3), 3, separator=",")),
        ),
    )
