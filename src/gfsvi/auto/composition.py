"""How much of a posterior is a network that builds on trees or another regressor."""

from typing import NamedTuple

import numpy as np

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.beside import Beside
from gfsvi.functions.mixed import Mixed
from gfsvi.functions.shifted import Shifted
from gfsvi.functions.tree_mean import TreeMean
from gfsvi.prior_means.conversion import RegressorMean


class Composition(NamedTuple):
    """The weight of the networks that build on a regressor, and what that is called."""

    share: float
    built_on: str


def composition(function: AbstractRandomFunction) -> Composition | None:
    """What a posterior is made of; None if no part of it builds on a regressor."""
    if isinstance(function, Mixed):
        found = [composition(member) for member in function.members]
        weights = np.asarray(function.weights, np.float64)
        pairs = [(w, one) for w, one in zip(weights, found, strict=True) if one is not None]
        share = float(sum(w * one.share for w, one in pairs))
        return Composition(share, pairs[0][1].built_on) if pairs else None
    if isinstance(function, Beside):
        return Composition(1.0, "trees")
    if isinstance(function, Shifted) and isinstance(function.mean, TreeMean):
        return Composition(1.0, "trees")
    if isinstance(function, Shifted) and isinstance(function.mean, RegressorMean):
        return Composition(1.0, type(function.mean.regressor).__name__.lstrip("_"))
    return None


def in_words(found: Composition) -> str:
    """A phrase for what predicts."""
    if found.share >= 1:
        return f"a network that builds on {found.built_on}"
    share = f"{100 * found.share:.0f} % of the weight"
    return f"two networks; the one that builds on {found.built_on} has {share}"
