"""RealMLP with its tuned defaults, from pytabkit.

Of numbers it predicts a mean. The spread is that of its errors on the fifth of the rows that it
holds out to choose an epoch, the same at every row. Labels get its class probabilities.
"""
# pyright: reportMissingImports=false

import warnings
from collections.abc import Callable

import numpy as np
import pandas
import torch
from prepared import Answer, Columns, Fold, answer, held_out_rows, normal
from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

SHARE_HELD_OUT = 0.2
"""The share that pytabkit holds out by default; chosen here to know which rows these are."""

LEAST_SPREAD = 1e-6
"""In standard deviations of the target."""


def fit(fold: Fold, columns: Columns) -> Callable[[pandas.DataFrame], Answer]:
    """Train a network; its errors on the rows that chose the epoch are its spread."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")

    def rows(table: pandas.DataFrame) -> pandas.DataFrame:
        categories = columns.categories(table).astype("category")
        return pandas.concat([columns.imputed(table), categories], axis=1)

    kind = RealMLP_TD_Regressor if fold.classes is None else RealMLP_TD_Classifier
    model = kind(device="cpu", random_state=fold.seed, n_threads=1, verbosity=0)
    _, held_out = held_out_rows(fold, SHARE_HELD_OUT, fold.seed)
    seen = rows(fold.train)
    model.fit(seen, fold.y, val_idxs=held_out)

    def mean_of(rows: pandas.DataFrame) -> np.ndarray:
        return np.asarray(model.predict(rows), np.float64).ravel()

    def predict(table: pandas.DataFrame) -> Answer:
        if fold.classes is None:
            errors = fold.y[held_out] - mean_of(seen.iloc[held_out])
            spread = max(np.sqrt(np.mean(errors**2)), LEAST_SPREAD * np.std(fold.y))
            return normal(mean_of(rows(table)), np.full(len(table), spread))
        found = np.zeros((len(table), len(fold.classes)))
        found[:, np.asarray(model.classes_, int)] = model.predict_proba(rows(table))
        return {"probability": found}

    return predict


if __name__ == "__main__":
    answer(fit)
