"""scikit-learn's Gaussian process with a length scale per feature and noise, or its classifier.

The kernel is found from its default start, without restarts. Tables with more rows than can be
afforded are represented by a random part of them.
"""
# pyright: reportMissingImports=false

import warnings
from collections.abc import Callable

import numpy as np
import pandas
from prepared import Answer, Columns, Fold, answer, normal, some_rows
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

MOST_ROWS, MOST_LABELLED_ROWS = 1_000, 500
MOST_NUMBERS = 5e7
"""In the gradient of a kernel, which has one for each pair of rows and each feature."""


def fit(fold: Fold, columns: Columns) -> Callable[[pandas.DataFrame], Answer]:
    """Fit at most a thousand rows, or 500 with labels, where each class has a fit of its own."""
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    rows = columns.matrix(fold.train)
    most = MOST_ROWS if fold.classes is None else MOST_LABELLED_ROWS
    most = min(most, int(np.sqrt(MOST_NUMBERS / rows.shape[1])))
    chosen = some_rows(fold, most, fold.seed)
    smooth = ConstantKernel() * RBF(np.ones(rows.shape[1]))
    if fold.classes is None:
        model = GaussianProcessRegressor(smooth + WhiteKernel(), normalize_y=True)
    else:
        model = GaussianProcessClassifier(smooth, random_state=fold.seed)
    model.fit(rows[chosen], fold.y[chosen])

    def predict(table: pandas.DataFrame) -> Answer:
        if isinstance(model, GaussianProcessRegressor):
            return normal(*model.predict(columns.matrix(table), return_std=True))
        found = np.zeros((len(table), len(fold.classes or ())))
        found[:, np.asarray(model.classes_, int)] = model.predict_proba(columns.matrix(table))
        return {"probability": found}

    return predict


if __name__ == "__main__":
    answer(fit)
