"""The blocks that priors are built from."""

import dataclasses
from typing import Any

from gfsvi.kernels import (
    RBF,
    AbstractKernel,
    Constant,
    Linear,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
)
from gfsvi.studio.reading import Reader, text_item

MAX_FACTORS, MAX_COLUMNS = 4, 60


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A slider of a block.

    Args:
        words: What it is called.
        unit: Whether it is a distance in the units of the column.
        low: The smallest value, of a distance as a share of the column's range.
        high: The largest value.
        start: Where a new block begins.
    """

    words: str
    unit: bool
    low: float
    high: float
    start: float


LENGTH = Parameter("length scale", True, 0.005, 10.0, 0.15)
PERIOD = Parameter("period", True, 0.005, 2.0, 0.2)
SHAPE = Parameter("smoothness within a period", False, 0.1, 10.0, 1.0)
MIXTURE = Parameter("how alike the scales are", False, 0.1, 20.0, 1.0)


@dataclasses.dataclass(frozen=True)
class Family:
    """A kind of block: the kernel, what it says, and its sliders."""

    kernel: type[AbstractKernel]
    words: str
    parameters: dict[str, Parameter]


FAMILIES = {
    "rbf": Family(RBF, "very smooth", {"lengthscale": LENGTH}),
    "matern52": Family(Matern52, "smooth", {"lengthscale": LENGTH}),
    "matern32": Family(Matern32, "fairly smooth", {"lengthscale": LENGTH}),
    "matern12": Family(Matern12, "rough", {"lengthscale": LENGTH}),
    "rational_quadratic": Family(
        RationalQuadratic, "smooth on many scales", {"lengthscale": LENGTH, "mixture": MIXTURE}
    ),
    "periodic": Family(Periodic, "repeating", {"period": PERIOD, "lengthscale": SHAPE}),
    "linear": Family(Linear, "a straight line", {}),
    "constant": Family(Constant, "an unknown level", {}),
}
"""By the names that they have on the command line."""


@dataclasses.dataclass(frozen=True)
class Factor:
    """A block: a family on some columns (all if none is named), and where its sliders are."""

    family: str
    columns: tuple[str, ...]
    values: dict[str, float]

    @classmethod
    def read(cls, content: Any) -> "Factor":
        """Read a block."""
        reader = Reader(content, "a block")
        family = reader.choice("family", tuple(FAMILIES))
        inner = reader.inner("values")
        wanted = FAMILIES[family].parameters
        values = {n: inner.number(n, positive=True) for n in wanted if n in inner.names()}
        return cls(family, reader.list("columns", text_item, MAX_COLUMNS), values)


@dataclasses.dataclass(frozen=True)
class Term:
    """Blocks that are multiplied, and the standard deviation of the product."""

    std: float
    factors: tuple[Factor, ...]

    @classmethod
    def read(cls, content: Any) -> "Term":
        """Read a product of blocks."""
        reader = Reader(content, "a term")
        std = reader.number("std", positive=True)
        return cls(std, reader.list("factors", Factor.read, MAX_FACTORS, 1))


def described() -> list[dict[str, Any]]:
    """All families for the page."""
    return [
        {
            "name": name,
            "words": family.words,
            "parameters": [
                {"name": key, **dataclasses.asdict(parameter)}
                for key, parameter in family.parameters.items()
            ],
        }
        for name, family in FAMILIES.items()
    ]
