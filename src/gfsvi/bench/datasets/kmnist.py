"""Kuzushiji-MNIST."""

from gfsvi.bench.data.dataset import AbstractDataset, Layout
from gfsvi.bench.data.sources import mnist_files


class KMNIST(AbstractDataset):
    """Kuzushiji-MNIST."""

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
    downloads = (mnist_files("https://codh.rois.ac.jp/kmnist/dataset/kmnist"),)
