"""Several equally likely networks of one architecture."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Samples


class Ensemble(AbstractRandomFunction):
    """f(x; w) with w one of several weights; a single member is a point estimate.

    Args:
        network: The network.
        params: Its weights; the first axis of every array runs over the members.
    """

    network: AbstractNetwork
    params: Params

    @property
    def num_members(self) -> int:
        """Number of networks."""
        return len(jax.tree.leaves(self.params)[0])

    def member(self, index: int | Array) -> Params:
        """The weights of one network."""
        return jax.tree.map(lambda leaf: leaf[index], self.params)

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Samples:
        """One draw per member; the members are fixed, so the key is not used."""
        x = jnp.asarray(x, jax.tree.leaves(self.params)[0].dtype)
        f = jax.vmap(lambda params: self.network.apply(params, x))(self.params)
        return Samples(jnp.swapaxes(f, 1, 2).astype(jnp.float64))

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Samples:
        return self.at(x)

    @double
    def sample_function(
        self, *, key: PRNGKeyArray
    ) -> Callable[[Points], Float[Array, "point output"]]:
        """Draw one of the members, to be evaluated anywhere."""
        params = self.member(jax.random.randint(key, (), 0, self.num_members))
        return double(lambda x: self.network.apply(params, jnp.asarray(x)))
