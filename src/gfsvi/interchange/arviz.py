"""Draws of a fit for ArviZ."""

# pyright: reportMissingImports=false

from typing import Any

import jax
import numpy as np
from numpy.typing import ArrayLike

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import Labels
from gfsvi.numerics.extras import packages_for

NUM_DRAWS = 500


def to_arviz(
    model: Fitted | Any,
    X: ArrayLike | Any,
    y: ArrayLike | None = None,
    *,
    num_draws: int = NUM_DRAWS,
    seed: int = 0,
) -> Any:
    """Draws of observations at rows, for ArviZ's plots and statistics.

    Draws are independent, one function each, in a single chain: there is no sampler whose
    convergence ArviZ could judge.

    Args:
        model: A fitted estimator, or a `Fitted`.
        X: Rows: a table or an array.
        y: Their targets or labels, if known: `observed_data`, and `log_likelihood` by the
            predictive density of each row.
        num_draws: The number of draws.
        seed: Determines the draws.

    Returns:
        An `InferenceData` of ArviZ (a tree of data from ArviZ 1 on) with `posterior_predictive`;
        labels are given as positions among the classes, which the attribute `classes` names.
    """
    with packages_for("to_arviz", "arviz"):
        import arviz
    fitted: Fitted = getattr(model, "fitted_", model)
    draws = fitted.draws(X, num_draws, key=jax.random.key(seed))
    groups = {"posterior_predictive": {"y": np.asarray(draws)[None]}}
    if y is not None:
        observed = np.asarray(fitted.target.numbers(np.asarray(y)))
        density = np.asarray(fitted.predict(X).log_prob(observed))
        groups["observed_data"] = {"y": observed}
        groups["log_likelihood"] = {"y": np.broadcast_to(density, (1, num_draws, len(density)))}
    dims = ["row", "target"][: draws.ndim - 1]
    is_tree = int(arviz.__version__.partition(".")[0]) >= 1
    given = (groups,) if is_tree else ()
    named = {} if is_tree else groups
    data = arviz.from_dict(*given, **named, coords=_coords(fitted, draws), dims={"y": dims})
    if isinstance(fitted.target, Labels):
        predicted = data["posterior_predictive"]
        predicted.attrs["classes"] = list(map(str, fitted.target.classes))
    return data


def _coords(fitted: Fitted, draws: np.ndarray) -> dict[str, list[Any]]:
    coords: dict[str, list[Any]] = {"row": list(range(draws.shape[1]))}
    if draws.ndim == 3:
        known = None if fitted.preparation is None else fitted.preparation.target
        coords["target"] = list(known or (f"y{i + 1}" for i in range(draws.shape[2])))
    return coords
