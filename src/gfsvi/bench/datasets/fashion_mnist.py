"""Fashion-MNIST."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Layout, Packaged
from gfsvi.bench.data.sources import IMAGE_FILES, mnist_files


class FashionMNIST(AbstractDataset):
    """Fashion-MNIST."""

    source = "https://github.com/zalandoresearch/fashion-mnist"
    licence = "MIT (Zalando SE)"
    target = "kind of clothing"
    shape = (60000, 28, 28)
    fingerprint = "37e5852d33933792bfddacf387e185c9c3d87fa20c45417517512181f092a44a"
    layouts = (Layout({"": "images/fashion_mnist.npz"}),)
    packages = (
        Packaged(
            "apt-get install dataset-fashion-mnist",
            "/usr/share/datasets/fashion-mnist",
            IMAGE_FILES,
            parsing.images,
        ),
    )
    downloads = (
        mnist_files(
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"
        ),
    )
