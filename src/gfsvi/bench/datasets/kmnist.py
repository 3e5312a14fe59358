"""Kuzushiji-MNIST."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout


class KMNIST(AbstractDataset):
    """Kuzushiji-MNIST."""

    title = "Kuzushiji-MNIST"
    source = "http://codh.rois.ac.jp/kmnist"
    licence = "CC BY-SA 4.0 (ROIS-CODH)"
    target = "character"
    shape = (60000, 28, 28)
    layouts = (
        Layout({"": "images/kmnist_full.npz"}),
        Layout(
            {"": "images/kmnist.npz"}, partial="the 10000 test images, without the 60000 others"
        ),
    )
    downloads = (
        Download(
            tuple(
                f"https://codh.rois.ac.jp/kmnist/dataset/kmnist/{file}"
                for file in parsing.IMAGE_FILES
            ),
            parsing.images,
        ),
    )
