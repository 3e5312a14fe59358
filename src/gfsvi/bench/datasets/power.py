"""Combined cycle power plant."""

from gfsvi.bench.data.sources import UCI, AbstractUCITable


class Power(AbstractUCITable):
    """Combined cycle power plant."""

    uci = UCI(294, "power-plant")
    target = "net hourly electrical output, in MW"
    shape = (9568, 4)
    fingerprint = "3fa6a84a2d12093f08f5fffcd837c8b8601055ce0e1066d76681732b778770cb"
