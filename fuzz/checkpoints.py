"""Whatever the checkpoint: the fit that begins with it ends, and leaves a whole model."""

import functools
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.corpus import TINY
from fuzz.edits import edited, edits
from fuzz.engine import ACCEPTED, REFUSED, Kind, check_sentence
from gfsvi import BayesianRegressor

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(20, 2))
SETTINGS = TINY | {"num_steps": 300, "hidden": (3,)}


def fitted(path: Path | None, watch: Any = None) -> np.ndarray:
    """What a fit with this checkpoint predicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = BayesianRegressor("map", **SETTINGS, checkpoint=path, watch=watch)
        return estimator.fit(X, X[:, 0] - X[:, 1]).predict(X)


@functools.cache
def undisturbed() -> tuple[bytes, np.ndarray]:
    """The checkpoint of an interrupted fit, and what an undisturbed one predicts."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "checkpoint"
        fitted(path)
        return path.read_bytes(), fitted(None)


def check(edit: Any) -> str:
    """Fit beside a changed checkpoint."""
    data, expected = undisturbed()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "checkpoint"
        path.write_bytes(edited(data, edit))
        try:
            found = fitted(path)
        except FloatingPointError as error:  # weights that were forged, beyond all bounds
            check_sentence(str(error))
            return REFUSED
        if not np.all(np.isfinite(found)):
            raise AssertionError("predictions that are not finite")
        left = sorted(path.name for path in Path(name).iterdir())
        if left != ["checkpoint"]:
            raise AssertionError(f"left {left}")
    return REFUSED if np.array_equal(found, expected) else ACCEPTED


KIND = Kind("checkpoints", edits, check)
