"""A list of rows that could be measured."""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Pool:
    """Rows that could be measured, and no others.

    Args:
        rows: Their features, (row, feature).
    """

    rows: np.ndarray

    def __post_init__(self) -> None:
        if np.ndim(self.rows) != 2 or not len(self.rows):
            raise ValueError(
                "a pool expects rows of numbers (row, feature); got an array of shape "
                f"{np.shape(self.rows)}. Pass at least one row."
            )
