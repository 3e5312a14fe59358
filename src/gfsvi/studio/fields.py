"""Priors over vector fields in the plane, as blocks."""

import dataclasses

from gfsvi.studio.reading import Reader

FAMILIES = ("rbf", "matern52")


@dataclasses.dataclass(frozen=True)
class FieldPrior:
    """A field that is a gradient plus a rotation, both of one length scale.

    Args:
        family: How smooth it is.
        lengthscale: In the units of the axes.
        swirl: The standard deviation of a component of the part without divergence.
        sources: That of the part without rotation.
    """

    family: str
    lengthscale: float
    swirl: float
    sources: float

    @classmethod
    def read(cls, reader: Reader) -> "FieldPrior":
        """Read a prior over fields."""
        return cls(
            reader.choice("family", FAMILIES, FAMILIES[0]),
            reader.number("lengthscale", 1.0, positive=True),
            reader.number("swirl", 1.0, positive=True),
            reader.number("sources", 1e-3, positive=True),
        )
