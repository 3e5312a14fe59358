"""A fit in a few lines."""

from typing import TYPE_CHECKING

import numpy as np

from gfsvi.auto.composition import composition, in_words
from gfsvi.auto.targets import Labels
from gfsvi.numerics.printing import FEW_DIGITS, text_of

if TYPE_CHECKING:
    from gfsvi.auto.fitted import Fitted

_MOST_NAMES = 8


def described(fitted: "Fitted") -> dict[str, str]:
    """What a fit predicts, from what, by which method and prior, and what to know about it."""
    settings, preparation = fitted.settings, fitted.preparation
    held_out = len(fitted.validation_rows)
    rows = f"{settings.num_rows + settings.num_validation_rows}"
    if held_out:
        then = "" if fitted.first_predictions is None else ", then learned"
        rows += f", {held_out} held out{then}"
    columns = fitted.feature_names
    if preparation is not None:
        columns = [column.name for column in preparation.columns if column.feature_names]
    found = [diagnostic.title for diagnostic in fitted.diagnostics]
    parts = composition(fitted.posterior.function)
    return {
        "target": _target(fitted),
        "inputs": _listed(columns),
        "rows": rows,
        "method": settings.method,
        **({} if parts is None else {"predicts with": in_words(parts)}),
        "kernel": "none" if fitted.kernel is None else fitted.kernel.code(FEW_DIGITS),
        "likelihood": _on_one_line(text_of(fitted.posterior.likelihood, FEW_DIGITS)),
        "diagnostics": "; ".join(found) or "nothing found",
    }


def _target(fitted: "Fitted") -> str:
    names = "y" if fitted.preparation is None else ", ".join(fitted.preparation.target)
    if isinstance(fitted.target, Labels):
        return f"{names}: {_listed(list(map(str, fitted.target.classes)))}"
    centre, spread = (
        text_of(np.asarray(part), FEW_DIGITS)
        for part in (fitted.target.centre, fitted.target.spread)
    )
    return f"{names}: mean {centre}, standard deviation {spread}"


def _listed(names: "list[str] | tuple[str, ...]") -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _on_one_line(text: str) -> str:
    return " ".join(text.split()).replace("( ", "(").replace(" )", ")")
