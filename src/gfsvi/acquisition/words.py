"""Why a row is suggested, in words."""

from gfsvi.acquisition.base import AbstractAcquisition
from gfsvi.acquisition.surrogate import Goal

NEW, KNOWN = 0.5, 0.1
"""Novelty from which rows are new, and up to which they are known."""


def reason(
    acquisition: AbstractAcquisition,
    number: int,
    best: float,
    goal: Goal,
    mean: float,
    std: float,
    chance: float,
    novelty: float,
) -> str:
    """One or two sentences on the row of this number in a batch."""
    where = "above" if goal == "max" else "below"
    predicted = (
        f"predicted {mean:.4g} ± {std:.2g}, {where} the best so far ({best:.4g}) "
        f"with probability {chance:.2f}"
    )
    return f"{acquisition.reason(number)}: {predicted}. {_familiar(novelty)}"


def _familiar(novelty: float) -> str:
    if novelty >= NEW:
        return "Hardly anything like it has been measured."
    if novelty <= KNOWN:
        return "Similar rows have been measured."
    return "It is somewhat unlike the rows measured so far."
