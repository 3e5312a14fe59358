"""Tables of inputs, and when to predict the positive class."""

from typing import TYPE_CHECKING, cast

from gfsvi.serving import Predictor
from gfsvi.tables.reading import TableError

if TYPE_CHECKING:
    import pandas

    from gfsvi.auto import Fitted
    from gfsvi.auto.scores import Decision
    from gfsvi.auto.targets import Labels


def prepared(
    fitted: "Fitted | Predictor", frame: "pandas.DataFrame"
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


def decision_of(
    fitted: "Fitted | Predictor", threshold: float | None, positive: str | None
) -> "Decision | None":
    """When to predict the positive one of two classes, if a threshold or that class is given."""
    if threshold is None and positive is None:
        return None
    if fitted.task != "classification":
        raise TableError(
            "--threshold and --positive expect a model of two classes; got one of numbers. "
            "Leave them out."
        )
    from gfsvi.auto.scores import Decision

    classes = cast("Labels", cast("Fitted", fitted).target).classes
    return Decision.of(classes, positive, threshold)
