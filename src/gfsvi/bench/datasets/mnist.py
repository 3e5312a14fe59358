"""MNIST."""

from gfsvi.bench.data.dataset import AbstractDataset, Layout
from gfsvi.bench.data.sources import mnist_files


class MNIST(AbstractDataset):
    """MNIST."""

    source = "LeCun, Cortes and Burges; http://yann.lecun.com/exdb/mnist"
    licence = "CC BY-SA 3.0, as commonly stated"
    target = "digit"
    shape = (60000, 28, 28)
    fingerprint = "8fc8fc4f0343f34ece1fcfdfb65f0801fac48030ce7c70e62bbb62f64ee2e65b"
    layouts = (Layout({"": "images/mnist.npz"}),)
    downloads = (mnist_files("https://ossci-datasets.s3.amazonaws.com/mnist"),)
