"""Fitted estimators that tests share: compiling one takes longer than all questions to it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIClassifier, GFSVIRegressor

TINY = {"kernel": "rbf", "hidden": (8,), "num_points": 50, "num_steps": 20, "random_state": 0}
ROWS = 60


@pytest.fixture(scope="session")
def tiny() -> dict:
    """Settings of a fit that takes seconds."""
    return TINY


@pytest.fixture(scope="session")
def houses() -> pd.DataFrame:
    """A table with a text column, whose prices follow from it."""
    random = np.random.default_rng(0)
    size, age = random.uniform(40, 200, ROWS), random.uniform(0, 90, ROWS)
    town = np.array(["Aachen", "Bonn", "Celle"])[np.arange(ROWS) % 3]
    price = 3 * size - age + 60 * (town == "Bonn") + 10 * random.normal(size=ROWS)
    kind = np.where(price > 400, "dear", np.where(price > 250, "fair", "cheap"))
    return pd.DataFrame({"size": size, "town": town, "age": age, "price": price, "kind": kind})


@pytest.fixture(scope="session")
def numbers(houses) -> pd.DataFrame:
    return houses[["size", "age"]].assign(bonn=1.0 * (houses["town"] == "Bonn"), one=1.0)


@pytest.fixture(scope="session")
def regressor(houses) -> GFSVIRegressor:
    return GFSVIRegressor(**TINY).fit_table(houses.drop(columns="kind"), "price")


@pytest.fixture(scope="session")
def classifier(houses, numbers) -> GFSVIClassifier:
    return GFSVIClassifier(**TINY).fit(numbers, houses["kind"])


@pytest.fixture(scope="session")
def saved(regressor, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("model") / "houses.gfsvi"
    regressor.save(path)
    return path
