"""The peers themselves, where they are installed: `make test-peers` sees to that."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.bench.data.loading import load
from gfsvi.bench.experiment import Run
from gfsvi.bench.outside.peers import ENVIRONMENT, PEERS
from gfsvi.bench.running.execution import execute

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not ENVIRONMENT.is_ready, reason="`gfsvi bench peers` installs the peers"),
]


@pytest.fixture
def table(tmp_path):
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, 240)
    town = random.choice(["Bonn", "Celle", "Ulm"], 240)
    frame = pd.DataFrame({"x": x, "town": town})
    frame["height"] = x + 2.0 * (town == "Ulm") + (0.1 + 0.2 * (x > 0)) * random.normal(size=240)
    frame["kind"] = np.where(frame["height"] > 1, "high", np.where(x < -1, "west", "low"))
    frame.loc[::10, "x"] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def measured(table, name: str, target: str) -> dict[str, float]:
    run = Run("test", "tables", f"{table}:{target}", name, 0, 0, {"method": name})
    record = execute(run, load)
    assert record["status"] == "ok", record
    return record["metrics"]


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_predicts_numbers_better_than_their_mean(table, name):
    found = measured(table, name, "height")
    assert found["mse"] < 0.5 and found["crps"] < 0.45
    assert found["log_predictive_density"] > -1.4 and 0.5 < found["coverage"] <= 1
    assert found["fit_seconds"] > 0


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_predicts_labels_better_than_their_shares(table, name):
    found = measured(table, name, "kind")
    assert found["accuracy"] > 0.7 and found["log_loss"] < 0.9
