"""Any density of one number that a user can write down."""

from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Float, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractRealLikelihood,
    FunctionValues,
    PointLogProb,
    check_numbers,
)
from gfsvi.likelihoods.expectations import expectation_by_quadrature, expectation_by_sampling
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import ResponseDraws, Responses
from gfsvi.values import AbstractValues

# An unbounded support is cut into cells around f[0] that grow from 1e-4 to a reach of 1e8.
_NUM_CELLS = 512
_FINEST, _REACH = 1e-3, 1e8


class CustomLikelihood(AbstractRealLikelihood):
    """p(y | f) given as a function of one observation and the function's values at its point.

    It assumes one number y per point and a density that integrates to one over y. Moments,
    quantiles and samples come from the density on a grid, normalised there: 512 cells if both ends
    of `support` are finite, otherwise cells that grow with the distance from f[0], which resolve a
    density wider than about a tenth of its distance from f[0] (or from a finite end of `support`).

    Args:
        log_density: Maps y, a number, and f, of shape (num_function_outputs,), to log p(y | f).
            It may be an Equinox module; its arrays are learned like other parameters.
        num_function_outputs: How many outputs of the function the density needs.
        support: The smallest and largest possible y.
        num_samples: Draws of the function per expectation over more than one output; best a power
            of two.
    """

    log_density: Callable[[Array, Float[Array, " output"]], Array]
    num_function_outputs: int = eqx.field(static=True, default=1)
    support: tuple[float, float] = eqx.field(static=True, default=(-np.inf, np.inf))
    num_samples: int = eqx.field(static=True, default=64)
    discrete: ClassVar[bool] = False
    conjugate: ClassVar[bool] = False
    has_gaussian_targets: ClassVar[bool] = False
    rescalable: ClassVar[bool] = False

    def __check_init__(self) -> None:
        low, high = self.support
        if not low < high:
            raise ValueError(f"CustomLikelihood expects support = (low, high); got {self.support}.")

    def check(self, y: ArrayLike) -> None:
        numbers, (low, high) = check_numbers(self, y, single=True), self.support
        outside = numbers[(numbers < low) | (numbers > high)]
        if outside.size:
            raise ValueError(
                f"CustomLikelihood expects y in its support {self.support}; got {outside[:5]}. "
                "Widen the support or remove these rows."
            )

    def num_outputs(self, y: AnyArray) -> int:
        return self.num_function_outputs

    @property
    def noise_std(self) -> None:
        return None

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        log_prob = jax.vmap(self.log_density)(jnp.reshape(jnp.asarray(y), (-1,)), f.T)
        if log_prob.ndim != 1:
            raise ValueError(
                "log_density expects to return one number; got an array of shape "
                f"{log_prob.shape[1:]}. Index the function's values, as in f[0]."
            )
        return log_prob

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        if self.num_function_outputs == 1:
            return expectation_by_quadrature(lambda f: self.log_prob(y, f)[None], values)
        return expectation_by_sampling(
            lambda f: self.log_prob(y, f), values, key=key, num_samples=self.num_samples
        )

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        raise ValueError(
            "choosing a prior by marginal likelihood expects a likelihood that a Gaussian "
            "regression can stand for; got CustomLikelihood. Give the prior's kernel its "
            "parameters by hand, or choose it with Normal."
        )

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        edges, weights = self._cells(f)
        centres = (edges[1:] + edges[:-1]) / 2
        mean = jnp.sum(weights * centres, axis=0, keepdims=True)
        return mean, jnp.sum(weights * (centres - mean) ** 2, axis=0, keepdims=True)

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        edges, weights = self._cells(f)
        below = jnp.concatenate([jnp.zeros_like(weights[:1]), jnp.cumsum(weights, axis=0)])
        uniform = jax.random.uniform(key, (num_samples, f.shape[1]), weights.dtype)
        inverse = jax.vmap(jnp.interp, in_axes=1, out_axes=1)
        return inverse(uniform * below[-1], below, edges)[:, None, :]

    def _cells(
        self, f: FunctionValues
    ) -> tuple[Float[Array, "edge point"], Float[Array, "cell point"]]:
        """Edges of the cells of y, and each cell's probability given the function."""
        low, high = self.support
        edges = jnp.clip(self._edges(f), low, high)
        widths, centres = jnp.diff(edges, axis=0), (edges[1:] + edges[:-1]) / 2
        log_density = jax.vmap(self.log_prob, in_axes=(0, None))(centres, f)
        possible = (widths > 0) & ~jnp.isnan(log_density)
        log_mass = jnp.log(jnp.where(possible, widths, 1.0)) + log_density
        return edges, jax.nn.softmax(jnp.where(possible, log_mass, -jnp.inf), axis=0)

    def _edges(self, f: FunctionValues) -> Float[Array, "edge point"]:
        low, high = self.support
        if np.isfinite(low) and np.isfinite(high):
            # Finer towards the ends, where a density may rise without bound.
            inner = (1 - np.cos(np.linspace(0, np.pi, _NUM_CELLS + 1))) / 2
            edges = jnp.asarray(low + (high - low) * inner, f.dtype)
            return jnp.broadcast_to(edges[:, None], (_NUM_CELLS + 1, f.shape[1]))
        reach = np.arcsinh(_REACH / _FINEST)
        growing = _FINEST * jnp.sinh(jnp.linspace(-reach, reach, _NUM_CELLS + 1, dtype=f.dtype))
        return jnp.clip(f[0], low, high) + growing[:, None]
