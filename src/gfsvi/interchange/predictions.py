"""Predictions as columns of a table."""

from typing import TYPE_CHECKING, cast

import numpy as np

from gfsvi.interchange.digits import DECIMALS, beside, shares, significant
from gfsvi.serving import Predictor
from gfsvi.serving.observations import Prediction
from gfsvi.tables.reading import TableError, load_pandas

if TYPE_CHECKING:
    import pandas

    from gfsvi.auto import Fitted
    from gfsvi.auto.scores import Decision
    from gfsvi.auto.targets import Labels
    from gfsvi.predictives.base import AbstractRealPredictive
    from gfsvi.predictives.categorical import CategoricalPredictive


def prediction_table(
    fitted: "Fitted | Predictor",
    inputs: "pandas.DataFrame",
    level: float | None = None,
    decision: "Decision | None" = None,
) -> "pandas.DataFrame":
    """One row of predictions per row of inputs; the level is the model's own unless given."""
    predictive, level = fitted.predict(inputs), fitted.level if level is None else level
    if fitted.task == "classification":
        classes = cast("Labels", cast("Fitted", fitted).target).classes
        labels = cast("CategoricalPredictive", predictive)
        columns = _label_columns(np.array(classes), labels, decision)
        columns |= _set_column(cast("Fitted", fitted), labels, level)
    else:
        targets = fitted.preparation.target if fitted.preparation is not None else None
        numbers = cast("AbstractRealPredictive | Prediction", predictive)
        columns = _number_columns(targets, numbers, _interval(fitted, numbers, level))
    columns["novelty"] = np.round(fitted.novelty(inputs), DECIMALS)
    _check_finite(columns)
    return load_pandas().DataFrame(columns)


def _check_finite(columns: dict[str, np.ndarray]) -> None:
    """Raise if the model predicts what is not a number, as a damaged or forged one may."""
    for name, values in columns.items():
        if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
            raise TableError(
                f"expected finite predictions; the model gives {name} that is NaN or infinite in "
                f"{np.sum(~np.isfinite(values))} rows. Fit the model again, or look for absurdly "
                "large numbers in these rows."
            )


def _label_columns(
    classes: np.ndarray, predictive: "CategoricalPredictive", decision: "Decision | None"
) -> dict[str, np.ndarray]:
    written = shares(np.array(predictive.probabilities))
    predicted = predictive.predicted if decision is None else decision.predicted(predictive)
    return {
        "predicted": classes[np.asarray(predicted)],
        **{f"p_{label}": written[:, number] for number, label in enumerate(classes.tolist())},
        "entropy": np.round(predictive.entropy, DECIMALS),
        "mutual_information": np.round(predictive.mutual_information, DECIMALS),
    }


def _set_column(
    fitted: "Fitted", predictive: "CategoricalPredictive", level: float
) -> dict[str, np.ndarray]:
    """The classes that contain the label with this probability, if the model promises it."""
    if fitted.conformal == "none":
        return {}
    from gfsvi.auto.conformal import set_of

    names = np.array([str(label) for label in cast("Labels", fitted.target).classes])
    inside = set_of(fitted, predictive, level)
    return {"set": np.array([";".join(names[row]) for row in inside])}


def _interval(
    fitted: "Fitted | Predictor", predictive: "AbstractRealPredictive | Prediction", level: float
) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(fitted, Predictor):
        return fitted.interval(cast(Prediction, predictive), level)
    from gfsvi.auto.conformal import interval_of

    return interval_of(fitted, cast("AbstractRealPredictive", predictive), level)


def _number_columns(
    targets: tuple[str, ...] | None,
    predictive: "AbstractRealPredictive | Prediction",
    interval: tuple[np.ndarray, np.ndarray],
) -> dict[str, np.ndarray]:
    lower, upper = interval
    std = np.asarray(predictive.std)
    columns = {
        "mean": beside(np.asarray(predictive.mean), std),
        "std": significant(std),
        "lower": beside(np.asarray(lower), std),
        "upper": beside(np.asarray(upper), std),
        "epistemic_std": significant(np.asarray(predictive.epistemic_std)),
        "aleatoric_std": significant(np.asarray(predictive.aleatoric_std)),
    }
    mean = columns["mean"]
    if mean.ndim == 1:
        return columns
    names = targets or [f"y{number + 1}" for number in range(mean.shape[1])]
    return {
        f"{target}_{name}": values[:, number]
        for number, target in enumerate(names)
        for name, values in columns.items()
    }
