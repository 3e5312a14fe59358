"""Concrete compressive strength."""

from gfsvi.bench.data.sources import UCI, AbstractUCITable


class Concrete(AbstractUCITable):
    """Concrete compressive strength."""

    uci = UCI(165, "concrete")
    target = "strength, in MPa"
    shape = (1030, 8)
    fingerprint = "003785de945be9bd54ed4df3fb5a76ae4848d5f68fc5a39036ba8f1985e9a494"
