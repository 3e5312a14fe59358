"""Positions and vectors as rows of one component each, and back."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

NUM_COMPONENTS = 2


def rows_at(positions: Any) -> Float[np.ndarray, "row 3"]:
    """Both components at each position: (x1, x2, 0), (x1, x2, 1), and so on for the next."""
    positions = np.asarray(positions, np.float64)
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise ValueError(
            f"rows_at expects positions in the plane, (point, 2); got {positions.shape}. "
            "Give the coordinates of a point in two columns."
        )
    components = np.tile(np.arange(NUM_COMPONENTS, dtype=np.float64), len(positions))
    return np.column_stack([np.repeat(positions, NUM_COMPONENTS, axis=0), components])


def field_of(values: Any) -> Float[np.ndarray, "*any point 2"]:
    """Values at `rows_at(positions)` as a vector for each position."""
    values = np.asarray(values)
    return np.reshape(values, (*values.shape[:-1], -1, NUM_COMPONENTS))


def split_rows(
    rows: Float[Array, "row 3"], owner: str
) -> tuple[Float[Array, "row 2"], Float[Array, "row 2"]]:
    """Positions, and the unit vector of each row's component."""
    rows = jnp.asarray(rows)
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(
            f"{owner} expects rows (x1, x2, component); got an array of shape {rows.shape}. "
            "Make them with gfsvi.fields.rows_at(positions)."
        )
    component = rows[:, 2:]
    return rows[:, :2], jnp.concatenate([1 - component, component], axis=1)


def rotated(gradient: Float[Array, "*any 2"]) -> Float[Array, "*any 2"]:
    """(g2, -g1): the field whose stream function has gradient g."""
    return jnp.stack([gradient[..., 1], -gradient[..., 0]], axis=-1)
