"""A Gaussian process conditioned on observations with Gaussian noise."""

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, solve_lower
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals


class ConditionedProcess(AbstractRandomFunction):
    """The exact posterior of a process given noisy values at `x`; again a Gaussian process."""

    prior: GaussianProcess
    x: Points
    factor: Float[Array, "#output point point"]
    white_residual: Float[Array, "output point"]

    @classmethod
    def given(
        cls,
        prior: GaussianProcess,
        x: Points,
        targets: Float[Array, "output point"],
        noise_variance: Float[Array, "#output point"],
    ) -> "ConditionedProcess":
        """Condition on `targets`, each observed with its own noise variance."""
        values = prior.at(x)
        factor = cholesky(add_to_diagonal(values.cov, noise_variance))
        residual = (targets - values.mean)[..., None]
        return cls(prior, x, factor, solve_lower(factor, residual)[..., 0])

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        prior = self.prior.at(x)
        explained = self._explained(x)
        cov = prior.cov - jnp.swapaxes(explained, -1, -2) @ explained
        return Gaussian(prior.mean + self._shift(explained), cov)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        prior = self.prior.marginals(x)
        explained = self._explained(x)
        variance = jnp.maximum(prior.variance - jnp.sum(explained**2, axis=-2), 0)
        cov = variance.T[:, :, None] * jnp.eye(len(variance))
        return Marginals(prior.mean + self._shift(explained), cov)

    def _explained(self, x: Points) -> Float[Array, "#output observed point"]:
        cross = self.prior.kernel.cross(jnp.asarray(self.x), jnp.asarray(x, jnp.float64))
        return solve_lower(self.factor, cross[None])

    def _shift(self, explained: Array) -> Float[Array, "output point"]:
        return jnp.einsum("...np,...n->...p", explained, self.white_residual)
