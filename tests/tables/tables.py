"""Small tables to learn from, and helpers to inspect what was learned."""

import numpy as np
import pandas as pd

from gfsvi.tables import Preparation

ROWS = 40
Y = np.random.default_rng(0).normal(size=ROWS)
X = np.random.default_rng(1).normal(size=ROWS)
DATES = pd.date_range("2021-03-01", periods=ROWS, freq="36h")


def table(**columns):
    return pd.DataFrame({"y": Y, "x": X, **columns})


def learned(**columns):
    return Preparation.learn(table(**columns), "y")


def column_of(preparation, name):
    return next(column for column in preparation.columns if column.name == name)


def note_on(preparation, name):
    return " ".join(note for note in preparation.notes if f"`{name}`" in note)


def cycle(*values):
    return [values[i % len(values)] for i in range(ROWS)]


def with_some(values, replacement, number=4):
    changed = list(values)
    changed[3 : 3 + number] = [replacement] * number
    return changed
