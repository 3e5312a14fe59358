"""Whatever the model file: predictions without NaN, or one sentence, and nothing is run or left."""

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from sklearn.base import clone

from fuzz.corpus import models, table
from fuzz.edits import edited, edits
from fuzz.engine import ACCEPTED, REFUSED, Kind, check_sentence, command
from fuzz.tables import check_predictions
from gfsvi import load
from gfsvi.storage.model_file import ModelFileError

NEVER = ("checkpoint", "watch", "time_budget")
KNOWN = ("a", "b", "c", "d", "x1", "x2")


def rows() -> pd.DataFrame:
    """Rows with the columns of all models."""
    frame = table().drop(columns=["price", "tax", "kind"])
    old = pd.read_csv(io.BytesIO(Path("tests/storage/format_1/rows.csv").read_bytes()))
    for name in old.columns:
        if name not in frame:
            frame[name] = np.resize(old[name].to_numpy(), len(frame))
    return frame


def check(case: tuple[int, Any]) -> str:
    """Load the changed file, and predict with it on the command line."""
    number, edit = case
    files = models()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, inputs, output = folder / "m.gfsvi", folder / "rows.csv", folder / "p.csv"
        model.write_bytes(edited(files[number % len(files)], edit))
        frame = rows()
        frame.to_csv(inputs, index=False)
        loaded = _is_loaded(model)
        status, _, error = command("predict", model, inputs, "--output", output)
        left = sorted(path.name for path in folder.iterdir())
        if status:
            *remarks, last = error.splitlines()  # on cells that training had not
            told = last.startswith("gfsvi: ") and all(one.startswith("column") for one in remarks)
            if status != 2 or not told or left != ["m.gfsvi", "rows.csv"]:
                raise AssertionError(f"ended with {status}, left {left}: {error}")
            check_sentence(last)
            return REFUSED
        if left != ["m.gfsvi", "p.csv", "rows.csv"]:
            raise AssertionError(f"left {left}")
        texts = {"p": str, "predicted": str}
        check_predictions(pd.read_csv(output, dtype=texts, keep_default_na=False), len(frame))
        return ACCEPTED if loaded else REFUSED


def _is_loaded(path: Path) -> bool:
    try:
        estimator = load(path)
    except ModelFileError as error:
        check_sentence(str(error))
        return False
    again = clone(estimator)
    if any(getattr(again, name) is not None for name in NEVER):
        raise AssertionError("a parameter that no file may set")
    return True


KIND = Kind("model_files", st.tuples(st.integers(0, 30), edits), check)
