"""kin8nm, forward kinematics of an arm with eight links."""

from gfsvi.bench.data.dataset import AbstractDataset, Layout
from gfsvi.bench.data.sources import plain_text


class Kin8nm(AbstractDataset):
    """kin8nm, forward kinematics of an arm with eight links."""

    source = "DELVE; https://www.openml.org/d/189"
    licence = "free for research"
    target = "distance of the end of the arm"
    shape = (8192, 8)
    fingerprint = "ced3520c423e5720a0aa313a96fdc8474a0f79cf14f700869aa759fe4d1011d7"
    layouts = (Layout({"": "regression/kin8nm.npz"}),)
    downloads = (plain_text("kin8nm", 8),)
