"""What a page shows of a prior over vector fields: arrows before data, and after."""

import math
import time
from typing import Any

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from gfsvi.plain.helmholtz import PlainField
from gfsvi.report.formatting import number
from gfsvi.studio.looking import numbers, stable_factor, white_noise
from gfsvi.studio.reading import WorkspaceError
from gfsvi.studio.workspace import Workspace

NUM_ALONG = 15
"""Arrows along each axis."""
_FASTEST = math.sqrt(-2 * math.log(0.05))
"""The speed, in standard deviations of a component, that 95 % of vectors are below."""
_NONE = 0.05
"""A part whose standard deviation is this share of the other's is as good as absent."""


def field_of(workspace: Workspace) -> PlainField:
    """The covariance of the field, in the units of axes and velocities."""
    prior = workspace.field
    plain = PlainField(prior.family, prior.lengthscale, 1.0, 1.0)
    square = prior.lengthscale**2 / plain.share_of_slope
    sizes = prior.sources**2 * square, prior.swirl**2 * square
    return PlainField(prior.family, prior.lengthscale, *sizes)


def look_at_field(workspace: Workspace) -> dict[str, Any]:
    """Arrows on a grid: one field of the prior, and the mean and the doubt after data."""
    began = time.perf_counter()
    if len(workspace.columns) != 2 or any(c.kind != "number" for c in workspace.columns):
        raise WorkspaceError(
            "a field expects two columns of numbers as positions; got others. Start without data, "
            "or open a table with two columns besides the components."
        )
    kernel, positions = field_of(workspace), _positions(workspace)
    cov = kernel.cross(positions, positions)
    white = white_noise(workspace, len(cov))
    drawn = white[0] @ stable_factor(cov).T if len(white) else np.zeros(len(cov))
    shown: dict[str, Any] = {
        "positions": numbers(positions),
        "prior": numbers(drawn.reshape(-1, 2)),
        "sentences": _sentences(workspace),
    }
    if len(workspace.x):
        shown |= _after_data(workspace, kernel, positions, cov)
    return shown | {"milliseconds": round(1000 * (time.perf_counter() - began), 1)}


def _after_data(
    workspace: Workspace, kernel: PlainField, positions: np.ndarray, cov: np.ndarray
) -> dict[str, Any]:
    gram = kernel.cross(workspace.x, workspace.x)
    gram[np.diag_indices_from(gram)] += workspace.noise**2
    factor = stable_factor(gram)
    cross = kernel.cross(workspace.x, positions)
    mean = cross.T @ cho_solve((factor, True), workspace.y.ravel(), check_finite=False)
    explained = solve_triangular(factor, cross, lower=True, check_finite=False)
    variance = np.maximum(np.diagonal(cov) - np.sum(explained**2, axis=0), 0)
    share = variance.reshape(-1, 2).sum(axis=1) / np.diagonal(cov).reshape(-1, 2).sum(axis=1)
    return {
        "mean": numbers(mean.reshape(-1, 2)),
        "std": numbers(np.sqrt(variance.reshape(-1, 2).mean(axis=1))),
        "novelty": numbers(np.clip(share, 0, 1)),
    }


def _positions(workspace: Workspace) -> np.ndarray:
    along = [np.linspace(column.low, column.high, NUM_ALONG) for column in workspace.columns]
    return np.stack(np.meshgrid(*along, indexing="xy"), axis=-1).reshape(-1, 2)


def _sentences(workspace: Workspace) -> list[str]:
    """What the prior says about the field."""
    prior = workspace.field
    size = math.hypot(prior.swirl, prior.sources)
    kind = "It swirls, and it flows from sources to sinks."
    if prior.sources < _NONE * prior.swirl:
        kind = "It swirls and has no divergence: nothing appears or vanishes."
    elif prior.swirl < _NONE * prior.sources:
        kind = "It flows from sources to sinks and does not swirl."
    shape = "very smoothly" if prior.family == "rbf" else "smoothly"
    return [
        f"`{workspace.target}` is a field that varies {shape} over the plane.",
        kind,
        f"Its direction changes over a distance of about {number(prior.lengthscale)}.",
        f"95 % of speeds are below {number(_FASTEST * size)}.",
    ]
