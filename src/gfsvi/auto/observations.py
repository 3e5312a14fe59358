"""Targets as a likelihood wants them, and the likelihood to start from."""

from typing import Any, NamedTuple

import numpy as np

from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.predictives.warp import Warp

MAX_SHARE_OF_ONE_VALUE = 0.05
"""Where one value is more frequent, the target is no density that a warp may chase."""


class Observations(NamedTuple):
    """What is learned from, and the attributes that take predictions back to the user's scale."""

    y: np.ndarray
    likelihood: AbstractLikelihood
    attributes: dict[str, Any]


def observed_numbers(y: np.ndarray) -> Observations:
    """Numbers, (row,) or (row, target), standardised."""
    centre, spread = y.mean(axis=0), y.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)[()]
    standardized = (y - centre) / spread
    attributes = {"target_centre_": centre, "target_spread_": spread}
    return Observations(standardized, _likelihood(standardized), attributes)


def observed_labels(y: np.ndarray) -> Observations:
    """Labels as positions among the classes."""
    classes, numbers = np.unique(y, return_inverse=True)
    labels = classes.tolist()
    if len(labels) < 2:
        raise ValueError(
            f"expected at least two classes; got one class, {labels[0]!r}. "
            "Add rows of another class."
        )
    # np.array of a list: of text, where objects were text
    return Observations(
        numbers, Categorical(num_classes=len(labels)), {"classes_": np.array(labels)}
    )


def _likelihood(y: np.ndarray) -> AbstractLikelihood:
    columns = y.reshape(len(y), -1)
    noise = np.full(columns.shape[1], 0.3)
    shares = [np.unique(column, return_counts=True)[1].max() / len(y) for column in columns.T]
    if len(y) < 20 or max(shares) > MAX_SHARE_OF_ONE_VALUE:
        return Normal(noise)
    return WarpedNormal(noise, Warp.fitted(y))
