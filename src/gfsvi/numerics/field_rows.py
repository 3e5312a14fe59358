"""Vector fields as rows with one component each, and back."""

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from gfsvi.numerics.types import Points

NUM_COMPONENTS = 2


def rows_at(positions: ArrayLike) -> Float[np.ndarray, "row 3"]:
    """Rows for both components at each position: (x1, x2, 0), (x1, x2, 1), and so on."""
    points = np.asarray(positions, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(
            f"rows_at expects positions in the plane, (point, 2); got {points.shape}. "
            "Pass the coordinates of the points in two columns."
        )
    components = np.tile(np.arange(NUM_COMPONENTS, dtype=np.float64), len(points))
    return np.column_stack([np.repeat(points, NUM_COMPONENTS, axis=0), components])


def field_of(values: ArrayLike) -> Float[np.ndarray, "*any point 2"]:
    """Values at `rows_at(positions)` as one vector per position."""
    array = np.asarray(values)
    return np.reshape(array, (*array.shape[:-1], -1, NUM_COMPONENTS))


def split_rows(rows: Points, owner: str) -> tuple[Float[Array, "row 2"], Float[Array, "row 2"]]:
    """Split rows into positions and the unit vectors of their components."""
    rows = jnp.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(
            f"{owner} expects rows (x1, x2, component); got an array of shape {rows.shape}. "
            "Build them with gfsvi.fields.rows_at(positions)."
        )
    component = rows[:, 2:]
    return rows[:, :2], jnp.concatenate([1 - component, component], axis=1)


def rotated(gradient: Float[Array, "*any 2"]) -> Float[Array, "*any 2"]:
    """(g2, -g1): the field whose stream function has gradient g."""
    return jnp.stack([gradient[..., 1], -gradient[..., 0]], axis=-1)
