"""Energy efficiency."""

from gfsvi.bench.data.sources import UCI, AbstractUCITable


class Energy(AbstractUCITable):
    """Energy efficiency."""

    uci = UCI(242, "energy")
    target = "heating load"
    shape = (768, 8)
    fingerprint = "89361dc3207ab0b68024f7cb7c206519f2f9ae707d0d8f94e34309256992a9ff"
