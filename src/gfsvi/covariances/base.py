"""The covariance of a Gaussian over a network's weights.

A family relates to its state as a network to its parameters: `init` makes the learnable arrays,
and the other methods are pure functions of them. It sees the network only through a Jacobian.
"""

import itertools
from abc import abstractmethod
from typing import TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from gfsvi.networks.base import Params
from gfsvi.networks.jacobian import Grams, Jacobian, Variances

State: TypeAlias = PyTree
"""The learnable arrays of a covariance."""


class AbstractFamily(eqx.Module):
    """How the covariance of a posterior is represented, and so how it is found."""


class AbstractCovariance(AbstractFamily):
    """A family of covariance matrices S over all weights of a network, which are trained."""

    @abstractmethod
    def init(self, params: Params, *, key: PRNGKeyArray) -> State:
        """Initial learnable arrays for weights shaped like `params`."""

    @abstractmethod
    def variance(self, state: State, jacobian: Jacobian) -> Variances:
        """J S J^T at each point: the covariance between outputs there."""

    @abstractmethod
    def gram(self, state: State, jacobian: Jacobian, other: Jacobian) -> Grams:
        """J S J'^T between all points, for each output, in float64."""

    @abstractmethod
    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        """A draw from N(0, S), shaped like `params`."""


class AbstractIndependent(AbstractCovariance):
    """Independent weights: a subclass only gives the standard deviation of each."""

    @abstractmethod
    def stds(self, state: State, params: Params) -> tuple[Float[Array, "row column"], ...]:
        """Standard deviations, leaf by leaf, each leaf viewed as a matrix."""

    def sample(self, state: State, params: Params, *, key: PRNGKeyArray) -> Params:
        leaves, structure = jax.tree.flatten(params)
        keys = jax.random.split(key, len(leaves))
        draws = [
            jnp.reshape(std, leaf.shape) * jax.random.normal(k, leaf.shape, leaf.dtype)
            for leaf, std, k in zip(leaves, self.stds(state, params), keys, strict=True)
        ]
        return jax.tree.unflatten(structure, draws)


def lower_triangular(raw: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """A Cholesky factor from unconstrained numbers: the diagonal is stored as its logarithm."""
    return jnp.tril(raw, -1) + jnp.diag(jnp.exp(jnp.diagonal(raw)))


def raw_lower_triangular(size: int, scale: float, dtype: DTypeLike) -> Float[Array, "n n"]:
    """Unconstrained numbers for the factor `scale * I`."""
    return jnp.diag(jnp.full((size,), jnp.log(scale), dtype))


def unflatten_like(params: Params, vector: Float[Array, " weight"]) -> Params:
    """Split a vector of all weights into the shapes of `params`."""
    leaves, structure = jax.tree.flatten(params)
    cuts = list(itertools.accumulate(leaf.size for leaf in leaves))[:-1]
    pieces = jnp.split(vector, cuts)
    shaped = [jnp.reshape(p, leaf.shape) for p, leaf in zip(pieces, leaves, strict=True)]
    return jax.tree.unflatten(structure, shaped)
