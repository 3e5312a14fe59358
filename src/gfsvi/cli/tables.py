"""Tables in and out of a fitted estimator."""

from typing import TYPE_CHECKING, Any

import numpy as np

from gfsvi.tables.reading import TableError, load_pandas

if TYPE_CHECKING:
    import pandas


def prepared(estimator: Any, frame: "pandas.DataFrame") -> tuple[Any, tuple[str, ...]]:
    """What the estimator takes for these rows, and what is surprising about them."""
    if estimator.preparation_ is not None:
        return frame, estimator.preparation_.surprises(frame)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
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
    return frame[list(names)], ()


def prediction_table(estimator: Any, inputs: Any, level: float) -> "pandas.DataFrame":
    """One row of predictions for each row of inputs."""
    predictive = estimator.predict_distribution(inputs)
    if hasattr(estimator, "classes_"):
        columns = _label_columns(estimator, predictive)
    else:
        columns = _number_columns(estimator, predictive, level)
    novelty = {"novelty": estimator.novelty(inputs)}
    return load_pandas().DataFrame(columns | novelty)


def _label_columns(estimator: Any, predictive: Any) -> dict[str, np.ndarray]:
    probabilities = {
        f"p_{label}": predictive.probabilities[:, number]
        for number, label in enumerate(estimator.classes_.tolist())
    }
    return {
        "predicted": estimator.classes_[predictive.predicted],
        **probabilities,
        "entropy": predictive.entropy,
        "mutual_information": predictive.mutual_information,
    }


def _number_columns(estimator: Any, predictive: Any, level: float) -> dict[str, np.ndarray]:
    lower, upper = predictive.interval(level)
    columns = {
        "mean": predictive.mean,
        "std": predictive.std,
        "lower": lower,
        "upper": upper,
        "epistemic_std": predictive.epistemic_std,
        "aleatoric_std": predictive.aleatoric_std,
    }
    if np.ndim(predictive.mean) == 1:
        return columns
    targets = estimator.preparation_.target if estimator.preparation_ is not None else None
    names = targets or [f"y{number + 1}" for number in range(predictive.mean.shape[1])]
    return {
        f"{target}_{name}": np.asarray(values)[:, number]
        for number, target in enumerate(names)
        for name, values in columns.items()
    }
