"""A Gaussian process that summarises the data at a few inducing points."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import lower_triangular
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.numerics.constraints import real
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, inverse_from_cholesky, solve_lower
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals

JITTER = 1e-6


class SparseProcess(AbstractRandomFunction):
    """A process whose values at inducing points are L_z v with v ~ N(mean, S), K_zz = L_z L_z^T.

    Args:
        prior: The process far from the inducing points.
        inducing: The inducing points, which are learned with everything else.
        mean: Mean of the whitened coefficients v.
        raw_factor: The Cholesky factor of S with the logarithm of its diagonal.
    """

    prior: GaussianProcess
    inducing: Points = real()
    mean: Float[Array, "output inducing"] = real()
    raw_factor: Float[Array, "output inducing inducing"] = real()

    @classmethod
    def like(cls, prior: GaussianProcess, inducing: Points) -> "SparseProcess":
        """The process that equals its prior: coefficients N(0, I)."""
        size = len(inducing)
        mean = jnp.zeros((prior.outputs, size))
        return cls(prior, inducing, mean, jnp.zeros((prior.outputs, size, size)))

    @classmethod
    def given(
        cls,
        prior: GaussianProcess,
        inducing: Points,
        x: Points,
        targets: Float[Array, "output point"],
        noise_variance: Float[Array, "output point"],
    ) -> "SparseProcess":
        """The best of these processes for `targets` with Gaussian noise (Titsias 2009)."""
        process = cls.like(prior, inducing)
        features = process.features(jnp.asarray(x, jnp.float64))[0]
        weighted = features / noise_variance[:, None, :]
        # S = (I + A D^{-1} A^T)^{-1} and mean = S A D^{-1} residual with A = L_z^{-1} K_zx
        precision = add_to_diagonal(weighted @ features.T, 1.0)
        cov = inverse_from_cholesky(cholesky(precision))
        residual = targets - prior.marginals(x).mean
        mean = jnp.einsum("oij,ojn,on->oi", cov, weighted, residual)
        return cls(prior, inducing, mean, jax.vmap(_raw)(cholesky(cov)))

    @property
    def factor(self) -> Float[Array, "output inducing inducing"]:
        """Lower Cholesky factor of S."""
        return jax.vmap(lower_triangular)(jnp.asarray(self.raw_factor))

    @property
    def divergence(self) -> Float[Array, ""]:
        """KL between the coefficients and N(0, I), which is the KL between process and prior."""
        squares = jnp.sum(self.factor**2) + jnp.sum(jnp.asarray(self.mean) ** 2)
        log_pivots = jnp.sum(jnp.diagonal(jnp.asarray(self.raw_factor), axis1=-2, axis2=-1))
        return 0.5 * (squares - jnp.size(self.mean)) - log_pivots

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        prior, features = self.prior.at(x), self.features(x)
        learned = jnp.swapaxes(self.factor, -1, -2) @ features
        cov = prior.cov + _inner(learned) - _inner(features)
        return Gaussian(prior.mean + self.mean @ features[0], cov)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        prior, features = self.prior.marginals(x), self.features(x)
        learned = jnp.swapaxes(self.factor, -1, -2) @ features
        # The remaining variance is non-negative up to rounding.
        left = jnp.maximum(prior.variance - jnp.sum(features**2, axis=-2), 0)
        variance = left + jnp.sum(learned**2, axis=-2)
        cov = variance.T[:, :, None] * jnp.eye(len(variance))
        return Marginals(prior.mean + self.mean @ features[0], cov)

    def features(self, x: Points) -> Float[Array, "1 inducing point"]:
        """A = L_z^{-1} K_zx."""
        kernel, inducing = self.prior.kernel, jnp.asarray(self.inducing)
        jitter = JITTER * jnp.mean(kernel.diagonal(inducing))
        factor = cholesky(add_to_diagonal(kernel.gram(inducing), jitter), jitter)
        return solve_lower(factor[None], kernel.cross(inducing, jnp.asarray(x, jnp.float64))[None])


def _inner(rows: Float[Array, "batch inducing point"]) -> Float[Array, "batch point point"]:
    return jnp.swapaxes(rows, -1, -2) @ rows


def _raw(factor: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """A Cholesky factor with the logarithm of its diagonal."""
    return jnp.tril(factor, -1) + jnp.diag(jnp.log(jnp.diagonal(factor)))
