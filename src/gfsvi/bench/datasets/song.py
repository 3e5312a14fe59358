"""YearPredictionMSD, timbre of songs."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Layout
from gfsvi.bench.data.sources import UCI_LICENCE, uci_archive, uci_page


class Song(AbstractDataset):
    """YearPredictionMSD, timbre of songs."""

    source = uci_page(203)
    licence = UCI_LICENCE
    target = "year of release"
    shape = (515345, 90)
    layouts = (
        Layout({"": "ood/song_full.npz"}),
        Layout({"": "ood/song.npz"}, partial="1176 of 515345 rows"),
    )
    downloads = (
        uci_archive(
            203,
            "yearpredictionmsd.zip",
            parsing.zipped(".txt", parsing.table(slice(1, 91), 0, separator=",")),
        ),
    )
