"""To JSON and back, and no further."""

import json

import numpy as np
import pandas as pd
import pytest

from gfsvi.tables import Preparation

from .tables import DATES, X, cycle, with_some


def example():
    frame = pd.DataFrame({"y": cycle("a", "b"), "x": with_some(X, np.nan), "sold": DATES})
    return Preparation.learn(frame.assign(colour=cycle("r", "g"), useless=1), "y")


def test_a_record_restores_an_equal_preparation():
    preparation = example()
    assert Preparation.from_json(json.loads(json.dumps(preparation.to_json()))) == preparation


@pytest.mark.parametrize(
    "change",
    [
        {"task": "clustering"},
        {"task": "regression"},
        {"target": "y"},
        {"target": []},
        {"classes": None},
        {"classes": ["a", "a"]},
        {"classes": [["a"], ["b"]]},
        {"columns": {}},
        {"columns": []},
        {"columns": [1]},
        {"columns": [{"kind": "os.system", "name": "x"}]},
        {"columns": [{"kind": ["numeric"], "name": "x"}]},
        {"columns": [{"kind": "numeric", "name": "x"}]},
        {"notes": [1]},
        {"unknown": 1},
    ],
)
def test_a_foreign_record_is_refused(change):
    with pytest.raises(ValueError, match="expect"):
        Preparation.from_json({**example().to_json(), **change})
    with pytest.raises(ValueError, match="expects"):
        Preparation.from_json(change)


@pytest.mark.parametrize(
    ("field", "value"),
    [("median", "1"), ("median", True), ("median", float("nan")), ("name", 3), ("has_missing", 1)],
)
def test_a_column_of_the_wrong_type_is_refused(field, value):
    record = example().to_json()
    record["columns"][0][field] = value
    with pytest.raises(ValueError, match="expects"):
        Preparation.from_json(record)
