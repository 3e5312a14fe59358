"""NGBoost with its defaults: a normal distribution, or class probabilities."""
# pyright: reportMissingImports=false

from collections.abc import Callable

import numpy as np
import pandas
from ngboost import NGBClassifier, NGBRegressor
from ngboost.distns import k_categorical
from prepared import Answer, Columns, Fold, answer, normal


def fit(fold: Fold, columns: Columns) -> Callable[[pandas.DataFrame], Answer]:
    """Boost trees that predict the parameters of the distribution."""
    rows = columns.matrix(fold.train)
    if fold.classes is None:
        model = NGBRegressor(random_state=fold.seed, verbose=False)
    else:
        dist = k_categorical(len(fold.classes))
        model = NGBClassifier(Dist=dist, random_state=fold.seed, verbose=False)
    model.fit(rows, fold.y)

    def predict(table: pandas.DataFrame) -> Answer:
        if fold.classes is not None:
            return {"probability": np.asarray(model.predict_proba(columns.matrix(table)))}
        found = model.pred_dist(columns.matrix(table)).params
        return normal(np.asarray(found["loc"]), np.asarray(found["scale"]))

    return predict


if __name__ == "__main__":
    answer(fit)
