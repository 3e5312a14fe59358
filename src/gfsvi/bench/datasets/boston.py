"""Boston housing."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Layout, Packaged
from gfsvi.bench.data.sources import plain_text


class Boston(AbstractDataset):
    """Boston housing.

    One column describes the racial composition of towns: use it for comparisons only.
    """

    source = "StatLib; Harrison and Rubinfeld 1978"
    licence = "none stated; long in free circulation"
    target = "median value of homes, in 1000 dollars"
    shape = (506, 13)
    fingerprint = "cd33279be84aba48a8696f84b6cd1b5955adbe0117a0c4f9d808e66902589a74"
    layouts = (Layout({"": "regression/boston.npz"}),)
    packages = (
        Packaged(
            "pip install mlxtend",
            "mlxtend",
            ("data/data/boston_housing.csv",),
            parsing.table(slice(13), 13, separator=","),
        ),
    )
    downloads = (plain_text("bostonHousing", 13),)
