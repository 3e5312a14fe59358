"""YearPredictionMSD, timbre of songs."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class Song(AbstractDataset):
    """YearPredictionMSD, timbre of songs."""

    title = "YearPredictionMSD, timbre of songs"
    source = "https://archive.ics.uci.edu/dataset/203"
    licence = "CC BY 4.0, as UCI states"
    target = "year of release"
    shape = (515345, 90)
    layouts = (
        Layout({"": "ood/song_full.npz"}),
        Layout({"": "ood/song.npz"}, partial="1176 of 515345 rows"),
    )
    downloads = (
        Download(
            ("https://archive.ics.uci.edu/static/public/203/yearpredictionmsd.zip",),
            parsing.zipped(".txt", parsing.table(slice(1, 91), 0, separator=",")),
        ),
    )
