"""Shapes of arrays that many modules share."""

from jaxtyping import Array, Float

Points = Float[Array, "point *feature"]
"""Inputs: one row per point, or one array of any shape per point, such as an image."""
