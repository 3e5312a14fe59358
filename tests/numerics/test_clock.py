import math

from gfsvi.numerics import clock as module
from gfsvi.numerics.clock import Clock, operations_per_second


def test_a_clock_counts_down_and_is_over_once(monkeypatch):
    now = 100.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    clock = Clock(5.0)
    now = 102.0
    assert (clock.spent, clock.left) == (2.0, 3.0)
    assert not clock.is_over() and clock.is_over(reserved=4.0)
    now = 106.0
    assert clock.left == 0 and clock.is_over()


def test_a_clock_without_a_limit_is_never_over():
    assert math.isinf(Clock().left) and not Clock().is_over(reserved=1e9)


def test_a_machine_computes():
    assert 1e6 < operations_per_second() < 1e14
