"""Long work survives: killed and started again, a fit ends with the very same file."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.slow  # several whole fits; tests/estimators has the same in little

MODEL, CHECKPOINT = Path("model.gfsvi"), Path("model.gfsvi.checkpoint")
FIT = ("--target", "price", "--output", MODEL, "--kernel", "rbf", "--quiet")


@pytest.fixture
def undisturbed(start, table) -> bytes:
    """The file that a fit leaves when nobody kills it."""
    process = start("fit", table, *FIT)
    assert process.wait() == 0, process.stderr.read()
    data = MODEL.read_bytes()
    MODEL.unlink()
    return data


def written_at() -> int:
    return CHECKPOINT.stat().st_mtime_ns if CHECKPOINT.exists() else 0


def test_killed_twice_it_ends_with_the_same_file(start, table, undisturbed):
    for _ in range(2):
        before, process = written_at(), start("fit", table, *FIT)
        while written_at() == before and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        assert process.wait() != 0
        assert CHECKPOINT.exists() and not MODEL.exists()
    process = start("fit", table, *FIT)
    assert process.wait() == 0, process.stderr.read()
    assert MODEL.read_bytes() == undisturbed
    assert sorted(os.listdir()) == ["houses.csv", "model.gfsvi"]


def test_killed_at_ten_random_moments_it_ends_with_the_same_file(start, table, undisturbed):
    random = np.random.default_rng()
    for moment in random.uniform(1, 15, 10):
        print(f"killed after {moment:.3f} s")
        process = start("fit", table, *FIT)
        time.sleep(moment)
        process.kill()
        process.wait()
        if MODEL.exists():  # it was done before
            assert MODEL.read_bytes() == undisturbed
            MODEL.unlink()
    process = start("fit", table, *FIT)
    assert process.wait() == 0, process.stderr.read()
    assert MODEL.read_bytes() == undisturbed
    assert sorted(os.listdir()) == ["houses.csv", "model.gfsvi"]


def test_what_was_compiled_before_does_not_change_the_file(start, table, undisturbed):
    environment = os.environ | {"GFSVI_CACHE": str(Path("cold").absolute())}
    process = start("fit", table, *FIT, env=environment)
    assert process.wait() == 0, process.stderr.read()
    assert MODEL.read_bytes() == undisturbed
