"""A network with a Gaussian over its weights, represented by samples."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, AbstractIndependent, State
from gfsvi.covariances.isotropic import Isotropic
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.linearized_network import LinearizedNetwork
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.layered import AbstractLayeredNetwork
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Samples


class BayesianNetwork(AbstractRandomFunction):
    """f(x; w) with w ~ N(params, S): a prior over weights, or a posterior.

    Args:
        network: The network.
        covariance: The family of S.
        params: Mean weights.
        state: The learnable arrays of S.
        num_samples: Number of functions that represent the distribution.
    """

    network: AbstractNetwork
    covariance: AbstractCovariance
    params: Params
    state: State
    num_samples: int = eqx.field(static=True, default=100)

    @classmethod
    @double
    def prior(
        cls,
        network: AbstractNetwork,
        x: Points,
        *,
        scale: float = 1.0,
        dtype: DTypeLike = jnp.float32,
    ) -> "BayesianNetwork":
        """The prior of weight-space methods: weights N(0, scale^2) for inputs like `x`."""
        if not scale > 0:
            raise ValueError(
                f"a prior over weights expects a positive scale; got {scale}. Use 1.0, for example."
            )
        shapes = jax.eval_shape(
            lambda: network.init(jnp.asarray(x), key=jax.random.key(0), dtype=dtype)
        )
        params = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
        covariance = Isotropic(float(scale))
        return cls(network, covariance, params, covariance.init(params, key=jax.random.key(0)))

    @property
    def linearized(self) -> LinearizedNetwork:
        """The Gaussian process with the same weights, linearised around their mean."""
        return LinearizedNetwork(self.network, self.covariance, self.params, self.state)

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Samples:
        """Draws of whole functions: each is evaluated at all of `x` with the same weights."""
        x = jnp.asarray(x, jax.tree.leaves(self.params)[0].dtype)
        return self._samples(lambda k: self.network.apply(self.weights(key=k), x), key)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Samples:
        """Independent draws per point, by local reparameterisation where possible."""
        network, covariance = self.network, self.covariance
        if not isinstance(network, AbstractLayeredNetwork):
            return self.at(x, key=key)
        if not isinstance(covariance, AbstractIndependent):
            return self.at(x, key=key)
        stds = covariance.stds(self.state, self.params)
        return self._samples(lambda k: network.perturbed(self.params, stds, x, key=k), key)

    def weights(self, *, key: PRNGKeyArray) -> Params:
        """Draw all weights."""
        step = self.covariance.sample(self.state, self.params, key=key)
        return jax.tree.map(jnp.add, self.params, step)

    @double
    def sample_function(
        self, *, key: PRNGKeyArray
    ) -> Callable[[Points], Float[Array, "point output"]]:
        """Draw one function from the distribution, to be evaluated anywhere."""
        weights = self.weights(key=key)
        return double(lambda x: self.network.apply(weights, jnp.asarray(x)))

    def _samples(self, draw: Callable[[PRNGKeyArray], Array], key: PRNGKeyArray | None) -> Samples:
        keys = jax.random.split(jax.random.key(0) if key is None else key, self.num_samples)
        # Sequentially: batched products of small matrices are slower than single ones on a CPU,
        # and a hundred draws at many points would fill the memory.
        draws = jax.lax.map(draw, keys)
        return Samples(jnp.swapaxes(draws, 1, 2))
