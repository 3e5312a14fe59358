"""Finding, parsing, checking and splitting data sets."""

from gfsvi.bench.data.dataset import AbstractDataset as AbstractDataset
from gfsvi.bench.data.dataset import Arrays as Arrays
from gfsvi.bench.data.dataset import DatasetError as DatasetError
from gfsvi.bench.data.dataset import Download as Download
from gfsvi.bench.data.dataset import Layout as Layout
from gfsvi.bench.data.dataset import Packaged as Packaged
from gfsvi.bench.data.dataset import fingerprint as fingerprint
