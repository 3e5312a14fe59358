"""Arrays, memory maps and batches are fitted like tables that are read piece by piece."""

from typing import Any

import numpy as np
import pytest

from gfsvi.auto import Parameters
from gfsvi.auto.large import TableOfArrays, fit_streamed
from gfsvi.tables import sources
from gfsvi.tables.reading import TableError

from .flights import flights

SMALL = Parameters(
    hidden=(10,), num_steps=60, num_points=40, random_state=0, held_out="random", prior_mean=None
)


def fitted_rows(*given: Any, **options: Any) -> Any:
    return fit_streamed(*given, **options)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(sources, "PIECE", 100)


def sine(seed: int = 0, num_rows: int = 2000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x = np.stack([random.normal(size=num_rows), np.ones(num_rows)], axis=1)
    return x, 5 * np.sin(2 * x[:, 0]) + 0.1 * random.normal(size=num_rows)


def test_memory_maps_are_fitted_and_arrays_predicted(tmp_path):
    x, y = sine()
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", y)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "xy"]
    fitted = fitted_rows(TableOfArrays(*mapped), parameters=SMALL)
    new, observed = sine(1, 300)
    scores = fitted.evaluate(new, observed)
    assert scores["mse"] < 0.1 * scores["mse_baseline"]
    assert fitted.predict(new[:3]).mean.shape == (3,)


def test_arrays_are_fitted_like_the_same_rows_in_a_file(tmp_path):
    import pandas as pd

    x, y = sine()
    pd.DataFrame({"x0": x[:, 0], "x1": x[:, 1], "y": y}).to_parquet(tmp_path / "rows.parquet")
    of_file = fitted_rows(tmp_path / "rows.parquet", "y", parameters=SMALL)
    of_arrays = fitted_rows(TableOfArrays(x[:, :1], y), parameters=SMALL)
    # The constant column is not used.
    expected = of_file.predict(pd.DataFrame({"x0": x[:50, 0]}))
    np.testing.assert_allclose(of_arrays.predict(x[:50, :1]).mean, expected.mean, rtol=1e-10)
    np.testing.assert_allclose(of_arrays.predict(x[:50, :1]).std, expected.std, rtol=1e-10)


def test_an_iterator_of_frames_is_fitted_like_a_file_of_all_its_rows(tmp_path):
    frame = flights(1500)
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    batches = (frame[start : start + 400] for start in range(0, 1500, 400))
    found = fitted_rows(batches, "delay", parameters=SMALL).predict(frame[:50])
    expected = fitted_rows(tmp_path / "rows.parquet", "delay", parameters=SMALL).predict(frame[:50])
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-10)


def test_arrays_of_labels_and_of_several_targets_are_fitted():
    x, y = sine()
    labels = fitted_rows(TableOfArrays(x, np.where(y > 0, "up", "down")), parameters=SMALL)
    assert labels.task == "classification"
    right = np.argmax(labels.predict(x).probabilities, axis=1) == (y > 0)
    assert right.mean() > 0.9
    weights = np.ones(len(x))
    both = fitted_rows(TableOfArrays(x, np.stack([y, -y], 1), weights), parameters=SMALL)
    assert np.shape(both.predict(x[:5]).mean) == (5, 2)


def test_rows_that_cannot_be_fitted_are_refused_in_one_sentence():
    x, y = sine(0, 200)
    with pytest.raises(TableError, match=r"as many rows; got \(200, 2\), \(199,\)"):
        TableOfArrays(x, y[1:])
    x[7, 0] = np.nan
    with pytest.raises(TableError, match="got others in row 7"):
        fitted_rows(TableOfArrays(x, y), parameters=SMALL)
    with pytest.raises(TableError, match="name its column"):
        fitted_rows([flights(100)], parameters=SMALL)
    with pytest.raises(TableError, match="at least one batch"):
        fitted_rows([], "delay", parameters=SMALL)
    frame = flights(100)
    with pytest.raises(TableError, match="make all batches like the first"):
        fitted_rows([frame, frame.drop(columns="origin")], "delay", parameters=SMALL)
