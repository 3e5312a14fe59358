"""Drifters in the Gulf of Mexico."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.dataset import AbstractDataset, Download, Layout

_FILES = "https://raw.githubusercontent.com/JaxGaussianProcesses/static/main/data/gulfdata"


class GulfDrifters(AbstractDataset):
    """Velocities of 20 drifters in the Gulf of Mexico, and the mean currents on a grid.

    The 20 drifters are simulated in a field measured by real ones.
    """

    title = "Gulf drifters"
    source = "Lilly and Perez-Brunius 2021, https://doi.org/10.5281/zenodo.4421585"
    licence = "see the source"
    target = "velocity east and north, in m/s"
    shape = (20, 2)
    fingerprint = "f16a0718033d26929b735ead8380b6217c41f942817d8f863b5985b966831dc2"
    layouts = (Layout({"train_": "ocean/gulf_train.npz", "test_": "ocean/gulf_test.npz"}),)
    downloads = (Download((f"{_FILES}_train.csv", f"{_FILES}_test.csv"), parsing.currents),)
