"""Array types that many modules share."""

from typing import TypeAlias

import numpy as np
from jaxtyping import Array, Float

AnyArray: TypeAlias = Array | np.ndarray
"""An array of JAX or NumPy."""
Points: TypeAlias = Float[Array, "point *feature"] | Float[np.ndarray, "point *feature"]
"""Inputs: one row per point, or one array of any shape per point, such as an image."""
Number: TypeAlias = Float[Array, ""] | float
"""A scalar parameter; fields convert what they are given to an array."""
PerFeature: TypeAlias = (
    Float[Array, ""] | Float[Array, " feature"] | Float[np.ndarray, " feature"] | float
)
"""A parameter shared by all features, or one value per feature."""
Distance: TypeAlias = PerFeature | str
"""A distance between inputs; a text such as "3 weeks" is in the units of a table's column."""
PerOutput: TypeAlias = (
    Float[Array, ""] | Float[Array, " output"] | Float[np.ndarray, " output"] | float
)
"""A parameter shared by all outputs, or one value per output."""
