"""Several kernel families in one class, so that choosing among them compiles only once."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import distance, positive
from gfsvi.numerics.types import Distance, Number


class OneOf(AbstractStationaryKernel):
    """The stationary kernel of the chosen family; `choice` is an index that is not learned."""

    families: tuple[type[AbstractStationaryKernel], ...] = eqx.field(static=True)
    choice: Int[Array, ""] | int
    lengthscale: Distance = distance(1.0)
    variance: Number = positive(1.0)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        # All of them are cheap compared to the factorisation that follows.
        kinds = [family(self.lengthscale, self.variance) for family in self.families]
        chosen = kinds[0].correlation(squared_distance)
        for number, kind in enumerate(kinds[1:], start=1):
            chosen = jnp.where(self.choice == number, kind.correlation(squared_distance), chosen)
        return chosen

    @property
    def kernel(self) -> AbstractStationaryKernel:
        """The kernel of the chosen family alone."""
        family = self.families[int(self.choice)]
        return family(self.lengthscale, self.variance)
