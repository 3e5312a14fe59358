"""CatBoost, which predicts a mean and a variance, or class probabilities.

Defaults, with a tenth of the rows held out to choose the number of trees, because the likelihood of
numbers overfits without. Categories and missing values are passed as they are.
"""
# pyright: reportMissingImports=false

from collections.abc import Callable

import numpy as np
import pandas
from catboost import CatBoostClassifier, CatBoostRegressor, Pool
from prepared import Answer, Columns, Fold, answer, held_out_rows, normal

NUM_ROUNDS_WITHOUT_GAIN = 50


def fit(fold: Fold, columns: Columns) -> Callable[[pandas.DataFrame], Answer]:
    """Boost trees until rows that are held out are predicted no better."""
    kept, held_out = held_out_rows(fold, 0.1, fold.seed)
    said = {"random_seed": fold.seed, "thread_count": 1, "verbose": False}
    said |= {"allow_writing_files": False, "early_stopping_rounds": NUM_ROUNDS_WITHOUT_GAIN}

    def pool(table: pandas.DataFrame, y: np.ndarray | None = None) -> Pool:
        rows = pandas.concat([columns.numbers(table), columns.categories(table)], axis=1)
        return Pool(rows, y, cat_features=list(columns.levels))

    if fold.classes is None:
        model = CatBoostRegressor(loss_function="RMSEWithUncertainty", **said)
    else:
        model = CatBoostClassifier(**said)
    model.fit(
        pool(fold.train.iloc[kept], fold.y[kept]),
        eval_set=pool(fold.train.iloc[held_out], fold.y[held_out]),
    )

    def predict(table: pandas.DataFrame) -> Answer:
        if fold.classes is None:
            mean, variance = model.predict(pool(table)).T
            return normal(mean, np.sqrt(variance))
        found = np.zeros((len(table), len(fold.classes)))
        found[:, np.asarray(model.classes_, int)] = model.predict_proba(pool(table))
        return {"probability": found}

    return predict


if __name__ == "__main__":
    answer(fit)
