"""Which rows are held out to judge predictions: random ones, or the latest of a time series."""

import numpy as np

from gfsvi.auto.parameters import Parameters
from gfsvi.auto.recipe import HELD_OUT, Recipe
from gfsvi.diagnostics import Diagnostic
from gfsvi.tables import TimeOrder

WAYS = ("auto", "end", "random", "none")


def order_of_rows(
    parameters: Parameters, order: TimeOrder | None, num_rows: int
) -> TimeOrder | None:
    """The order whose latest rows are held out; None for random rows.

    `order` is the one that was recognised, if any.
    """
    if parameters.held_out not in WAYS:
        raise ValueError(
            f"held_out expects {', '.join(map(repr, WAYS))}; got {parameters.held_out!r}. "
            "Choose one of them."
        )
    if parameters.held_out == "end" and order is None:
        return TimeOrder("", np.arange(num_rows))
    return order if parameters.held_out in ("auto", "end") else None


def share_held_out(
    parameters: Parameters, recipe: Recipe, shape: tuple[int, ...], order: TimeOrder | None
) -> float:
    """The share of rows of this shape to hold out, at least a tenth of rows in time order."""
    if parameters.held_out == "none":
        return 0.0
    if parameters.validation_fraction is not None:
        return parameters.validation_fraction
    is_asked = order is not None or parameters.held_out == "random"
    return HELD_OUT if is_asked else recipe.share_held_out(shape)


def held_out_rows(
    num_rows: int, fraction: float, seed: int, order: TimeOrder | None = None
) -> np.ndarray:
    """Sorted positions of the rows to hold out; none if there would be fewer than two.

    The latest rows if they are in time order, otherwise random ones.
    """
    count = round(fraction * num_rows)
    if count < 2 or num_rows - count < 2:
        return np.zeros(0, int)
    if order is not None:
        return order.latest(count)
    return np.sort(np.random.default_rng(seed).permutation(num_rows)[:count])


def future_held_out(order: TimeOrder, num_held_out: int) -> Diagnostic:
    """Say that the latest rows were held out, and how to use them in the end."""
    why = f"sorted by `{order.column}`" if order.column else "taken to be in time order"
    return Diagnostic(
        "future_held_out",
        "note",
        "The latest rows are held out",
        f"The rows are {why}, so the model was not trained on the latest {num_held_out} of them; "
        "scores on these rows show how well the past predicts the future.",
        "For the final model, train on all rows: `gfsvi fit` with `--hold-out none`, in Python "
        '`held_out="none"`.',
    )
