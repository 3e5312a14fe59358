"""Which columns are looked at, and how many predictions that may take."""

from collections.abc import Mapping, Sequence

import numpy as np

from gfsvi.auto.importance import MAX_PREDICTIONS
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.model import Model

MAX_COLUMNS = 200
"""More columns would take minutes, and no one looks at as many."""
MAX_WORK = 4e10
"""Products of numbers for the predictions of all columns together: some seconds."""


def quickest(groups: Mapping[str, Sequence[int]], prior: Model) -> dict[str, Sequence[int]]:
    """The columns along which the function may change most quickly, if there are very many.

    Their order stays; without a length scale for each feature the first ones are taken.
    """
    if len(groups) <= MAX_COLUMNS:
        return dict(groups)
    kernel = getattr(getattr(prior, "function", None), "kernel", None)
    lengths = np.ravel(np.asarray(getattr(kernel, "lengthscale", 1.0), np.float64))
    shortest = [
        min((lengths[feature] for feature in features if feature < len(lengths)), default=np.inf)
        for features in groups.values()
    ]
    chosen = set(np.argsort(shortest, kind="stable")[:MAX_COLUMNS].tolist())
    return {name: groups[name] for place, name in enumerate(groups) if place in chosen}


def affordable_predictions(posterior: Model) -> int:
    """As many as usual, or fewer for a posterior with many outputs."""
    function = getattr(posterior, "function", None)
    if not isinstance(function, ConjugateNetwork):
        return MAX_PREDICTIONS
    return int(min(MAX_PREDICTIONS, MAX_WORK // max(1, np.size(function.root))))
