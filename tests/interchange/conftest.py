"""Fits of one small table, of numbers and of labels."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIClassifier, GFSVIRegressor

TINY = {"kernel": "rbf", "hidden": (8,), "num_points": 50, "prior_mean": None, "random_state": 0}


@pytest.fixture(scope="session")
def houses() -> pd.DataFrame:
    random = np.random.default_rng(0)
    size, town = random.uniform(40, 200, 60), np.array(["Aachen", "Bonn"])[np.arange(60) % 2]
    price = 3 * size + 60 * (town == "Bonn") + 10 * random.normal(size=60)
    kind = np.where(price > 400, "dear", np.where(price > 250, "fair", "cheap"))
    built = np.datetime64("1990-01-01") + random.integers(0, 9000, 60)
    frame = pd.DataFrame({"size": size, "town": town, "price": price, "kind": kind})
    return frame.assign(built=built, rooms=random.integers(1, 9, 60))


@pytest.fixture(scope="session")
def regressor(houses) -> GFSVIRegressor:
    return GFSVIRegressor(**TINY).fit_table(houses.drop(columns="kind"), "price")


@pytest.fixture(scope="session")
def classifier(houses) -> GFSVIClassifier:
    return GFSVIClassifier(**TINY).fit_table(houses.drop(columns="price"), "kind")
