"""A linear combination of functions drawn from a network: the variational implicit process."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.base import lower_triangular
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.values import Gaussian, Marginals

Features = Float[Array, "output feature point"]


class FeatureFunction(AbstractRandomFunction):
    """f(x) = mean(x) + phi(x)^T a with a ~ N(coefficients, L L^T), one a for each output.

    phi are the deviations of S functions of the network from their mean, over sqrt(S - 1): with
    a ~ N(0, I), f has the first two moments of these functions. Their noise is drawn only once,
    since the coefficients would be meaningless for other functions.
    """

    source: BayesianNetwork
    noise: PRNGKeyArray
    coefficients: Float[Array, "output feature"]
    factor: Float[Array, "output feature feature"]

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        mean, features = self.features(x)
        rows = jnp.einsum("ofg,ofp->ogp", self.lower, features)
        return Gaussian(self._shifted(mean, features), jnp.swapaxes(rows, 1, 2) @ rows)

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        mean, features = self.features(x)
        rows = jnp.einsum("ofg,ofp->ogp", self.lower, features)
        variance = jnp.sum(rows**2, axis=1).T
        cov = variance[:, :, None] * jnp.eye(variance.shape[-1])
        return Marginals(self._shifted(mean, features), cov)

    def features(self, x: Points) -> tuple[Float[Array, "output point"], Features]:
        """The mean of the drawn functions at `x`, and the features phi."""
        draws = jnp.asarray(self.source.at(x, key=self.noise).draws, jnp.float64)
        mean = jnp.mean(draws, axis=0)
        spread = (draws - mean) / (len(draws) - 1) ** 0.5
        return mean, jnp.swapaxes(spread, 0, 1)

    @property
    def lower(self) -> Float[Array, "output feature feature"]:
        """The factor L of the coefficients' covariance."""
        return jax.vmap(lower_triangular)(jnp.asarray(self.factor))

    def _shifted(self, mean: Array, features: Features) -> Float[Array, "output point"]:
        return mean + jnp.einsum("of,ofp->op", self.coefficients, features)
