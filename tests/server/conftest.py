import numpy as np
import pandas as pd
import pytest

from gfsvi import GFSVIClassifier, GFSVIRegressor

pytest.importorskip("starlette")
TINY = {"kernel": "rbf", "hidden": (8,), "random_state": 0}


@pytest.fixture(scope="session")
def houses():
    random = np.random.default_rng(0)
    size, age = random.uniform(40, 200, 60), random.uniform(0, 90, 60)
    town = np.array(["Aachen", "Bonn", "Celle"])[np.arange(60) % 3]
    price = 3 * size - age + 60 * (town == "Bonn") + 10 * random.normal(size=60)
    kind = np.where(price > 300, "dear", "cheap")
    return pd.DataFrame({"size": size, "town": town, "age": age, "price": price, "kind": kind})


@pytest.fixture(scope="session")
def regressor_file(houses, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "houses.gfsvi"
    model = GFSVIRegressor(conformal="left_out", **TINY)
    model.fit_table(houses.drop(columns="kind"), "price").save(path)
    return path


@pytest.fixture(scope="session")
def classifier_file(houses, tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "kinds.gfsvi"
    model = GFSVIClassifier(conformal="left_out", **TINY)
    model.fit_table(houses.drop(columns="price"), "kind").save(path)
    return path
