"""Several posteriors of one function, by the first two moments of their mixture."""

from collections.abc import Sequence
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction, NumpyFunction
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.plain.mixtures import mixture_moments
from gfsvi.values import Gaussian, Independent, Marginals, as_gaussian


class Mixed(AbstractRandomFunction):
    """A mixture of random functions, represented by its mean and covariance.

    Where members disagree, the function is less certain than each of them says.

    Args:
        members: Distributions of the same function.
        weights: How probable each of them is; they sum to one.
    """

    members: tuple[AbstractRandomFunction, ...]
    weights: Float[Array, " member"]

    def __check_init__(self) -> None:
        if not self.members or np.shape(self.weights) != (len(self.members),):
            raise ValueError(
                f"Mixed expects one weight per member; got {np.shape(self.weights)} weights for "
                f"{len(self.members)} members."
            )

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        values = [as_gaussian(member.at(x, key=key)) for member in self.members]
        means = jnp.stack([one.mean for one in values])
        mean = jnp.einsum("k,kop->op", self.weights, means)
        away = means - mean
        cov = sum(w * one.cov for w, one in zip(self.weights, values, strict=True))
        return Gaussian(mean, cov + jnp.einsum("k,kop,koq->opq", self.weights, away, away))

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        values = [cast(Any, member.marginals(x, key=key)) for member in self.members]
        means = jnp.stack([one.mean for one in values])
        mean = jnp.einsum("k,kop->op", self.weights, means)
        away = means - mean
        cov = sum(w * one.cov for w, one in zip(self.weights, values, strict=True))
        return Marginals(mean, cov + jnp.einsum("k,kop,kqp->poq", self.weights, away, away))

    def marginals_in_numpy(self, x: np.ndarray) -> Independent | None:
        """Mean and variance at each point; None unless all members have a form in NumPy."""
        found = [
            member.marginals_in_numpy(x) if isinstance(member, NumpyFunction) else None
            for member in self.members
        ]
        values = [one for one in found if one is not None]
        if len(values) < len(found):
            return None
        return mixed_moments(values, np.asarray(self.weights, np.float64))


def mixed_moments(values: Sequence[Independent], weights: np.ndarray) -> Independent:
    """Means and variances of a mixture of values in NumPy."""
    means, variances = (np.stack([getattr(one, n) for one in values]) for n in ("mean", "variance"))
    return Independent(*cast(Any, mixture_moments(means, variances, weights)))
