"""Tables of inputs and predictions."""

from typing import TYPE_CHECKING, cast

import numpy as np

from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.tables.reading import TableError, load_pandas

if TYPE_CHECKING:
    import pandas

    from gfsvi.auto import Fitted
    from gfsvi.auto.targets import Labels


def prepared(
    fitted: "Fitted", frame: "pandas.DataFrame"
) -> tuple["pandas.DataFrame", tuple[str, ...]]:
    """The columns that the model uses, and what is unusual about their values."""
    if fitted.preparation is not None:
        return frame, fitted.preparation.surprises(frame)
    names = fitted.feature_names
    if not fitted.are_named:
        raise TableError(
            "expected a model that knows the columns of a table; got one fitted to a bare array. "
            "Fit it with `gfsvi fit`, estimator.fit_table or a DataFrame."
        )
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise TableError(
            f"expected the columns the model was fitted to; got a table without "
            f"{', '.join(map(repr, missing))}. Add them."
        )
    return frame.loc[:, list(names)], ()


def prediction_table(
    fitted: "Fitted", inputs: "pandas.DataFrame", level: float
) -> "pandas.DataFrame":
    """One row of predictions per row of inputs."""
    predictive = fitted.predict(inputs)
    if isinstance(predictive, CategoricalPredictive):
        columns = _label_columns(np.array(cast("Labels", fitted.target).classes), predictive)
    else:
        targets = fitted.preparation.target if fitted.preparation is not None else None
        columns = _number_columns(targets, predictive, level)
    novelty = {"novelty": fitted.novelty(inputs)}
    return load_pandas().DataFrame(columns | novelty)


def _label_columns(classes: np.ndarray, predictive: CategoricalPredictive) -> dict[str, np.ndarray]:
    probabilities = {
        f"p_{label}": np.asarray(predictive.probabilities)[:, number]
        for number, label in enumerate(classes.tolist())
    }
    return {
        "predicted": classes[np.asarray(predictive.predicted)],
        **probabilities,
        "entropy": np.asarray(predictive.entropy),
        "mutual_information": np.asarray(predictive.mutual_information),
    }


def _number_columns(
    targets: tuple[str, ...] | None, predictive: AbstractRealPredictive, level: float
) -> dict[str, np.ndarray]:
    lower, upper = predictive.interval(level)
    numbers = {
        "mean": predictive.mean,
        "std": predictive.std,
        "lower": lower,
        "upper": upper,
        "epistemic_std": predictive.epistemic_std,
        "aleatoric_std": predictive.aleatoric_std,
    }
    columns = {name: np.asarray(values) for name, values in numbers.items()}
    mean = columns["mean"]
    if mean.ndim == 1:
        return columns
    names = targets or [f"y{number + 1}" for number in range(mean.shape[1])]
    return {
        f"{target}_{name}": values[:, number]
        for number, target in enumerate(names)
        for name, values in columns.items()
    }
