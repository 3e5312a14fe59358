"""Measuring defaults on validation parts of training folds, and what ingredients are worth."""

# pyright: reportAttributeAccessIssue=false

import importlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gfsvi.bench.data.raw_tables import raw_table

ROOT = Path(__file__).parents[2]
QUICK = {"hidden": [5], "num_steps": 3, "kernel": "rbf", "prior_mean": None}


@pytest.fixture
def parts(monkeypatch):
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module("benchmarks.validation_parts")


@pytest.fixture
def ablations(parts):
    return importlib.import_module("benchmarks.ablations")


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=75), "b": random.normal(size=75)})
    frame["y"] = np.round(np.sin(frame["a"]) + 0.1 * random.normal(size=75), 4)
    frame["label"] = np.where(frame["y"] > 0.5, "high", "low")
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.mark.parametrize("target", ["y", "label"])
def test_parts_divide_the_training_rows_of_a_fold_and_never_its_test_rows(parts, table, target):
    fold = raw_table(f"{table}:{target}").fold(0)
    found = [parts.part_of(fold, number) for number in range(5)]
    unseen = pd.concat([part.test for part in found])
    assert sorted(unseen.index) == sorted(fold.train.index)
    for part in found:
        assert not set(part.train.index) & set(part.test.index)
        assert set(part.train.index) | set(part.test.index) == set(fold.train.index)
        assert len(part.y_train) == len(part.train) and len(part.y_test) == len(part.test)
        written = part.test[target].astype(str)
        known = part.y_test if part.classes is None else np.array(part.classes)[part.y_test]
        np.testing.assert_array_equal(written.to_numpy(), np.asarray(known).astype(str))


def test_constants_hold_for_the_fit_alone(parts, table, monkeypatch):
    seen = []

    def predicted(settings, rows, seed):
        seen.append(importlib.import_module("gfsvi.prior_means.folds").NUM_FOLDS)
        return importlib.import_module("gfsvi.bench.own_fits").predicted_by_us(settings, rows, seed)

    monkeypatch.setattr(parts, "predicted_by_us", predicted)
    constants = {"gfsvi.prior_means.folds:NUM_FOLDS": 3}
    found = parts.measured(f"{table}:y", 0, 0, QUICK, constants)
    assert seen == [3]
    assert importlib.import_module("gfsvi.prior_means.folds").NUM_FOLDS == 5
    assert {"log_predictive_density", "mse", "cpu_seconds"} <= set(found)


@pytest.mark.parametrize(
    ("text", "value"), [("a=3", 3), ("a=None", None), ("a=rbf", "rbf"), ("a=[5, 5]", [5, 5])]
)
def test_values_are_literals_or_texts(parts, text, value):
    assert parts.literal(text) == ("a", value)


def test_variants_are_compared_with_the_network_alone_and_that_with_the_default(ablations):
    values = {ablations.DEFAULT: 1.0, ablations.NETWORK: 0.7, "no tails": 0.4}
    records = [
        {"variant": v, "dataset": name, "part": part, "log_predictive_density": x + part}
        for v, x in values.items()
        for name in ("first", "second")
        for part in (0, 1)
    ]
    for variant in (ablations.NETWORK, "no tails"):
        found = ablations.differences(records, variant, "log_predictive_density")
        np.testing.assert_allclose(found, -0.3)
        assert len(found) == 4


def test_every_variant_changes_something_that_exists(ablations, parts):
    fields = importlib.import_module("gfsvi.auto").Parameters().__dict__
    for variant in list(ablations.VARIANTS.values())[1:]:
        assert variant.settings and set(variant.settings) <= set(fields)
        for place in variant.constants:
            module, _, name = place.partition(":")
            found = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part)
