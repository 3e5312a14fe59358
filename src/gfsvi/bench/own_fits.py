"""Fits of the library to a fold of a table, as `gfsvi fit` makes them."""

import dataclasses
import tempfile
import time
from pathlib import Path
from typing import Any, cast

import numpy as np

from gfsvi.auto import Learner, MethodParameters, Parameters, recipe_for
from gfsvi.bench.data.raw_tables import TableFold
from gfsvi.bench.experiment import ExperimentError
from gfsvi.bench.tabular import Predicted
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.tables import Preparation, Task
from gfsvi.tables.cells import text_of
from gfsvi.tables.reading import TableFile, write_table


def predicted_by_us(settings: dict[str, Any], fold: TableFold, seed: int) -> Predicted:
    """Learn from the training rows and predict the test rows, both read from files.

    Settings other than `method` are parameters of the estimators, such as `kernel`.
    """
    learner = _learner(settings, fold, seed)
    with tempfile.TemporaryDirectory() as folder:
        parts = {"train": fold.train, "test": fold.test.drop(columns=fold.target)}
        for name, rows in parts.items():
            write_table(rows, Path(folder, f"{name}.csv"))
        train, test = (TableFile(Path(folder, f"{name}.csv")).frame() for name in parts)
    began = time.perf_counter()
    preparation = Preparation.learn(train, fold.target, cast(Task, learner.task))
    fitted = learner.learn_table(preparation.prepare(train), preparation)
    done = time.perf_counter()
    predictive = fitted.predict(test)
    seconds = {"fit_seconds": done - began, "predict_seconds": time.perf_counter() - done}
    if fold.classes is None:
        return Predicted(cast(AbstractRealPredictive, predictive), seconds)
    known = [text_of(label) for label in preparation.classes or ()]
    found = np.zeros((len(test), len(fold.classes)))
    labels = cast(CategoricalPredictive, predictive)
    found[:, [fold.classes.index(label) for label in known]] = labels.probabilities
    return Predicted(found, seconds)


def _learner(settings: dict[str, Any], fold: TableFold, seed: int) -> Learner:
    chosen = {name: value for name, value in settings.items() if name != "method"}
    recipe = recipe_for(settings["method"])
    kind = Parameters if recipe is recipe_for("gfsvi") else MethodParameters
    known = [field.name for field in dataclasses.fields(kind)]
    for name in chosen:
        if name not in known:
            raise ExperimentError(
                f"{settings['method']} expects the settings {', '.join(known)}; got {name!r}."
            )
    parameters = kind(**chosen, random_state=seed)
    return Learner("regression" if fold.classes is None else "classification", parameters, recipe)
