"""A network with a Gaussian over its weights, linearised around their mean."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import AbstractCovariance, AbstractIndependent, State
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.networks import jacobian as jacobians
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.jacobian import Grams, Variances
from gfsvi.networks.layered import AbstractLayeredNetwork
from gfsvi.numerics.batching import map_blocks
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals, Samples


class LinearizedNetwork(AbstractRandomFunction):
    """The Gaussian process with mean f(x; m) and covariance J(x) S J(x')^T.

    Memory is bounded by `gfsvi.networks.jacobian.BLOCK_ELEMENTS`: larger Jacobians are computed in
    blocks of points and recomputed, not stored, for the backward pass.

    Args:
        network: The network.
        covariance: The family of S.
        params: Mean weights m.
        state: The learnable arrays of S.
        num_samples: Number of functions that represent the marginals, which avoids the Jacobians
            of many outputs at every row in training; None for the marginals themselves.
    """

    network: AbstractNetwork
    covariance: AbstractCovariance
    params: Params
    state: State
    num_samples: int | None = eqx.field(static=True, default=None)

    @double
    def at(
        self,
        x: Points,
        *,
        key: PRNGKeyArray | None = None,
        outputs: Float[Array, "k output"] | None = None,
    ) -> Gaussian:
        """Joint values at all of `x`, of the given combinations of outputs or of each output."""
        x, each = self._prepare(x)
        chosen = each if outputs is None else outputs.astype(x.dtype)
        if self._points_per_block(len(chosen)) >= len(x):
            mean, jacobian = self.network.linearize(self.params, x, chosen)
            grams = self.covariance.gram(self.state, jacobian, jacobian)
        else:
            mean = self.network.apply(self.params, x)
            grams = jax.lax.map(lambda output: self._gram_of(x, output[None])[0], chosen)
        mean = mean if outputs is None else mean @ chosen.T
        return Gaussian(mean.T.astype(jnp.float64), grams)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals | Samples:
        x, outputs = self._prepare(x)
        if self.num_samples is not None:
            return self._drawn(x, self.num_samples, jax.random.key(0) if key is None else key)

        def block(rows: Points) -> tuple[Float[Array, "point output"], Variances]:
            mean, jacobian = self.network.linearize(self.params, rows, outputs)
            return mean, self.covariance.variance(self.state, jacobian)

        mean, cov = map_blocks(block, x, self._points_per_block(len(outputs)))
        return Marginals(mean.T, cov)

    def _drawn(self, x: Points, num_samples: int, key: PRNGKeyArray) -> Samples:
        """Antithetic draws at each point: every draw comes with its mirror image at no cost."""
        keys = jax.random.split(key, (num_samples + 1) // 2)
        value, change = jax.lax.map(lambda k: self._perturbed(x, k), keys)
        draws = jnp.concatenate([value + change, value - change])[:num_samples]
        return Samples(jnp.swapaxes(draws, 1, 2))

    def _perturbed(self, x: Points, key: PRNGKeyArray) -> tuple[Array, Array]:
        """Values at `x`, and a draw of their first-order perturbation by the weights."""
        network, covariance = self.network, self.covariance
        if isinstance(network, AbstractLayeredNetwork) and isinstance(
            covariance, AbstractIndependent
        ):
            stds = covariance.stds(self.state, self.params)
            return network.perturbed_to_first_order(self.params, stds, x, key=key)
        step = covariance.sample(self.state, self.params, key=key)
        return jax.jvp(lambda p: network.apply(p, x), (self.params,), (step,))

    @double
    def sample_function(
        self, *, key: PRNGKeyArray
    ) -> Callable[[Points], Float[Array, "point output"]]:
        """Draw one function from the process, to be evaluated anywhere."""
        step = self.covariance.sample(self.state, self.params, key=key)

        @double
        def function(x: Points) -> Float[Array, "point output"]:
            x, _ = self._prepare(x)
            value, change = jax.jvp(lambda p: self.network.apply(p, x), (self.params,), (step,))
            return value + change

        return function

    def _prepare(self, x: Points) -> tuple[Array, Float[Array, "output output"]]:
        dtype = jax.tree.leaves(self.params)[0].dtype
        x = jnp.asarray(x, dtype)
        shape = jax.eval_shape(self.network.apply, self.params, x).shape
        return x, jnp.eye(shape[-1], dtype=dtype)

    def _points_per_block(self, num_outputs: int) -> int:
        size = self.network.jacobian_size(self.params) * num_outputs
        return max(1, jacobians.BLOCK_ELEMENTS // size)

    def _gram_of(self, x: Array, output: Float[Array, "1 output"]) -> Grams:
        size = self._points_per_block(1)
        linearize = jax.checkpoint(lambda rows: self.network.jacobian(self.params, rows, output))
        if size >= len(x):
            jacobian = linearize(x)
            return self.covariance.gram(self.state, jacobian, jacobian)

        def row_of_blocks(rows: Points) -> Float[Array, "rows point 1"]:
            def block(columns: Points) -> Float[Array, "columns rows 1"]:
                gram = self.covariance.gram(self.state, linearize(rows), linearize(columns))
                return jnp.transpose(gram, (2, 1, 0))

            return jnp.swapaxes(map_blocks(block, x, size), 0, 1)

        return jnp.transpose(map_blocks(row_of_blocks, x, size), (2, 0, 1))
