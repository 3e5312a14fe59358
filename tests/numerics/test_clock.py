import math
import time

from gfsvi.numerics.clock import Clock, operations_per_second


def test_a_clock_counts_down_and_is_over_once():
    clock = Clock(0.05)
    assert 0 < clock.left <= 0.05 and not clock.is_over() and clock.is_over(reserved=1.0)
    time.sleep(0.06)
    assert clock.left == 0 and clock.is_over()


def test_a_clock_without_a_limit_is_never_over():
    assert math.isinf(Clock().left) and not Clock().is_over(reserved=1e9)


def test_a_machine_computes():
    assert 1e6 < operations_per_second() < 1e14
