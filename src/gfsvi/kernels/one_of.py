"""Several families of kernels in one, so that choosing among them is compiled once."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.numerics.constraints import positive


class OneOf(AbstractStationaryKernel):
    """The stationary kernel of the chosen family; the choice is a number that is not learned."""

    families: tuple[type[AbstractStationaryKernel], ...] = eqx.field(static=True)
    choice: Int[Array, ""] | int
    lengthscale: Float[Array, ""] | Float[Array, " feature"] = positive(1.0)
    variance: Float[Array, ""] = positive(1.0)

    def correlation(self, squared_distance: Float[Array, "..."]) -> Float[Array, "..."]:
        # All of them are cheap beside the factorisation that follows.
        kinds = [family(self.lengthscale, self.variance) for family in self.families]
        chosen = kinds[0].correlation(squared_distance)
        for number, kind in enumerate(kinds[1:], start=1):
            chosen = jnp.where(self.choice == number, kind.correlation(squared_distance), chosen)
        return chosen

    @property
    def kernel(self) -> AbstractStationaryKernel:
        """The kernel of the chosen family by itself."""
        family = self.families[int(self.choice)]
        return family(self.lengthscale, self.variance)
