"""Predictions of a table as a table of the same library."""

from typing import Any

from gfsvi.auto.fitted import Fitted
from gfsvi.interchange.predictions import prediction_table
from gfsvi.tables.frames import as_frame, like


def predict_table(model: Fitted | Any, table: Any, *, level: float | None = None) -> Any:
    """Predictions of the rows of a table, as a table of the same library.

    Args:
        model: An estimator that was fitted to a table, or a `Fitted`.
        table: A table of pandas, polars, Arrow or another library that speaks Arrow's protocol,
            with the columns that the model predicts from.
        level: The probability of the interval; by default the one that the model promises, or
            0.95.

    Returns:
        One row per row, as `gfsvi predict` writes it: `mean`, `std`, `lower`, `upper`,
        `epistemic_std`, `aleatoric_std` and `novelty`; for labels `predicted` and a probability
        `p_…` per class. A frame of pandas keeps its index. Libraries other than pandas and
        polars get a table of Arrow.
    """
    if level is not None and not 0 < level < 1:
        raise ValueError(f"expected a level between 0 and 1; got {level!r}. Pass 0.9, say.")
    frame = as_frame(table)
    return like(table, prediction_table(getattr(model, "fitted_", model), frame, level), frame)
