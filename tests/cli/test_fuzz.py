"""Whatever the table: a model without NaN in its predictions, or one sentence.

`make fuzz` tries tables without learning from them; `tests/test_fuzz.py` is a small part of that.
"""

import importlib
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
FUZZ = {"suppress_health_check": list(HealthCheck), "print_blob": True}


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("fuzz.tables")


@pytest.mark.slow
@settings(max_examples=12, **FUZZ)
@given(data=st.data())
def test_any_table_is_really_learned_from_or_refused(tables, data):
    table = data.draw(tables.tables())
    tables.fitted_or_refused(*table, "--kernel", "rbf", "--time-budget", "1")


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_units_do_not_matter(tables, scale):
    random = np.random.default_rng(0)
    x = random.normal(size=tables.ROWS)
    y = math.pi * x + random.normal(size=tables.ROWS)
    frame = pd.DataFrame({"x": x * scale, "y": y * scale})
    found = tables.fitted_or_refused(frame, "y", "--kernel", "rbf", "--time-budget", "1")
    assert found == "accepted"


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_units_of_no_known_world_are_refused(tables, scale):
    x = np.random.default_rng(0).normal(size=(tables.ROWS, 2))
    frame = pd.DataFrame(x * scale, columns=["x", "y"])
    with tables.nothing_compiled():
        assert tables.fitted_or_refused(frame, "y") == "refused"
