"""Condition-based maintenance of naval propulsion plants."""

from gfsvi.bench.data.sources import UCI, AbstractUCITable


class Naval(AbstractUCITable):
    """Condition-based maintenance of naval propulsion plants.

    Two of its features are constant.
    """

    uci = UCI(316, "naval-propulsion-plant")
    target = "decay coefficient of the compressor"
    shape = (11934, 16)
    fingerprint = "93a8191280292e80e359355f27fe9f9bc75d7970f83095ca7f21872a8015d278"
