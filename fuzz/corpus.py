"""Files that are changed: models of several methods, and an interrupted fit's checkpoint."""

import functools
import hashlib
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from filelock import FileLock

from fuzz.engine import HOME
from gfsvi import BayesianClassifier, BayesianRegressor, GFSVIClassifier, GFSVIRegressor, load
from gfsvi.storage import container

TINY = {"kernel": "rbf", "hidden": (4,), "num_steps": 4, "random_state": 0}
METHODS = ("laplace", "mfvi", "exact_gp", "deep_ensemble", "sparse_gp", "vip", "gfsvi_trained")
OLD = Path("tests/storage/format_1")
ROWS = 24


def table() -> pd.DataFrame:
    """A table with all kinds of columns, and two targets."""
    random = np.random.default_rng(0)
    size = random.uniform(40, 200, ROWS)
    return pd.DataFrame(
        {
            "size": np.where(np.arange(ROWS) % 7 == 0, np.nan, size),
            "town": np.array(["Aachen", "Bonn", None], object)[np.arange(ROWS) % 3],
            "sold": pd.date_range("2020-01-01", periods=ROWS, freq="9D").strftime("%Y-%m-%d"),
            "price": 3 * size + random.normal(size=ROWS),
            "tax": size - random.normal(size=ROWS),
            "kind": np.where(size > 120, "large", "small"),
        }
    )


def make_models() -> None:
    """Fit models of several methods, once for this version of the library's files."""
    folder = _folder()
    with FileLock(folder / "lock"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not (folder / "done").exists():
            _fit_all(folder)
            (folder / "done").touch()


@functools.cache
def models() -> tuple[bytes, ...]:
    """Model files of format 1, and of those that have been made those of today."""
    old = [OLD / name for name in ("regressor.gfsvi", "classifier.gfsvi", "method.gfsvi")]
    return tuple(path.read_bytes() for path in (*old, *sorted(_folder().glob("*.gfsvi"))))


def _folder() -> Path:
    version = hashlib.sha256(Path(container.__file__).read_bytes()).hexdigest()[:8]
    folder = HOME / "corpus" / version
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _fit_all(folder: Path) -> None:
    frame, targets = table(), ["price", "tax"]
    numbers = frame.drop(columns=["kind", "tax"])
    several = frame.drop(columns="kind")
    GFSVIRegressor(**TINY).fit_table(numbers, "price").save(folder / "regressor.gfsvi")
    GFSVIRegressor(**TINY).fit_table(several, targets).save(folder / "two.gfsvi")
    labels = frame.drop(columns=targets)
    GFSVIClassifier(**TINY).fit_table(labels, "kind").save(folder / "classifier.gfsvi")
    for name in METHODS:
        estimator = BayesianRegressor(name, **TINY).fit_table(numbers, "price")
        estimator.save(folder / f"{name}.gfsvi")
    mfvi = BayesianClassifier("mfvi", **TINY).fit_table(labels, "kind")
    mfvi.save(folder / "mfvi_classes.gfsvi")
    for path in folder.glob("*.gfsvi"):
        load(path)
