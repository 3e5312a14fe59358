"""Which rows are held out to judge predictions: random ones, or the latest of a time series."""

from typing import NamedTuple

import numpy as np

from gfsvi.auto.parameters import Parameters
from gfsvi.auto.recipe import HELD_OUT, Recipe
from gfsvi.diagnostics import Diagnostic
from gfsvi.tables import TimeOrder

WAYS = ("auto", "end", "random", "none")


class Apart(NamedTuple):
    """Sorted positions of rows that are not trained on at first.

    `judged` are those that predictions are judged on, `validation` those that decide when to stop
    and, in large tables, on the noise. They are the same unless the judged rows are the latest
    ones: how wrong predictions of the future are says little about the noise.
    """

    judged: np.ndarray
    validation: np.ndarray

    @property
    def all(self) -> np.ndarray:
        """Both, sorted."""
        return np.union1d(self.judged, self.validation)

    @property
    def validates_apart(self) -> bool:
        """Whether others than the judged rows are for validation."""
        return not np.array_equal(self.judged, self.validation)


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
    parameters: Parameters,
    recipe: Recipe,
    shape: tuple[int, ...],
    order: TimeOrder | None,
    num_outputs: int = 1,
) -> float:
    """The share of rows of this shape to hold out, at least a tenth of rows in time order."""
    if parameters.held_out == "none":
        return 0.0
    if parameters.validation_fraction is not None:
        return parameters.validation_fraction
    is_asked = order is not None or parameters.held_out == "random"
    return HELD_OUT if is_asked else recipe.share_held_out(shape, num_outputs)


def rows_apart(
    parameters: Parameters,
    recipe: Recipe,
    shape: tuple[int, ...],
    order: TimeOrder | None,
    num_outputs: int = 1,
) -> Apart:
    """Which of the rows of an array of this shape are held out, in this order if in any."""
    num_rows, seed = shape[0], int(parameters.random_state)
    share = share_held_out(parameters, recipe, shape, order, num_outputs)
    judged = held_out_rows(num_rows, share, seed, order)
    if order is None or not recipe.leaves_rows_out or len(shape) != 2:
        return Apart(judged, judged)
    rest = np.setdiff1d(np.arange(num_rows), judged)
    share = recipe.share_held_out((len(rest), shape[1]), num_outputs)
    return Apart(judged, rest[held_out_rows(len(rest), share, seed)])


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


def future_held_out(order: TimeOrder, num_held_out: int, is_learned: bool) -> Diagnostic:
    """Say that the latest rows were held out, and whether they were learned afterwards."""
    why = f"sorted by `{order.column}`" if order.column else "taken to be in time order"
    if is_learned:
        return Diagnostic(
            "future_held_out",
            "note",
            "The model was judged on the latest rows, then learned them",
            f"The rows are {why}, so the scores are those of a model that had not seen the latest "
            f"{num_held_out} of them: they show how well the past predicts the future. Then the "
            "model learned these rows as well.",
            "Predictions use all rows. To score the model again, use rows that are not in this "
            "table.",
        )
    return Diagnostic(
        "future_held_out",
        "note",
        "The latest rows are held out",
        f"The rows are {why}, so the model was not trained on the latest {num_held_out} of them; "
        "scores on these rows show how well the past predicts the future.",
        "For the final model, train on all rows: `gfsvi fit` with `--hold-out none`, in Python "
        '`held_out="none"`.',
    )
