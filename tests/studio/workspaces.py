"""Workspaces as a page would send them."""

from typing import Any

import numpy as np

FACTOR = {"family": "rbf", "columns": ["x"], "values": {"lengthscale": 1.5}}


def axis(name: str = "x", low: float = 0.0, high: float = 10.0, feature: int = 0) -> dict[str, Any]:
    return {"name": name, "kind": "number", "low": low, "high": high, "features": [feature]}


def workspace(**changes: Any) -> dict[str, Any]:
    """A smooth prior along one axis, without data."""
    return {
        "format": 1,
        "kind": "function",
        "columns": [axis()],
        "features": [],
        "target": {"name": "y", "centre": 0.0, "spread": 1.0},
        "terms": [{"std": 1.0, "factors": [FACTOR]}],
        "noise": 0.1,
        "hidden": [20, 20],
        "source": {"kind": "none"},
        "rows": {"x": [], "y": []},
        "view": {"column": "x", "low": -1.0, "high": 11.0, "draws": 3, "seed": 0},
        **changes,
    }


def with_points(num_points: int = 30, **changes: Any) -> dict[str, Any]:
    """The same with points that were clicked along a sine."""
    x = np.linspace(0, 10, num_points)
    y = 3 + 2 * np.sin(x) + 0.1 * np.cos(37 * x)
    x, y = ([float(f"{value:.6g}") for value in values] for values in (x, y))  # as the page
    rows = {"x": [[value] for value in x], "y": y}
    return workspace(source={"kind": "points"}, rows=rows, **changes)


SEASONAL = [
    {
        "std": 0.7,
        "factors": [
            {"family": "periodic", "columns": ["x"], "values": {"period": 2.0, "lengthscale": 1.0}},
            {"family": "matern52", "columns": ["x"], "values": {"lengthscale": 8.0}},
        ],
    },
    {"std": 1.2, "factors": [{"family": "linear", "columns": ["x"], "values": {}}]},
    {"std": 0.4, "factors": [{"family": "constant", "columns": [], "values": {}}]},
]
