"""Fashion-MNIST."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout, Packaged


class FashionMNIST(AbstractDataset):
    """Fashion-MNIST."""

    title = "Fashion-MNIST"
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
            parsing.IMAGE_FILES,
            parsing.images,
        ),
    )
    downloads = (
        Download(
            tuple(
                f"https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/{file}"
                for file in parsing.IMAGE_FILES
            ),
            parsing.images,
        ),
    )
