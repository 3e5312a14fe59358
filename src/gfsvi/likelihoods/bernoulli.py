"""Yes or no."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from gfsvi.likelihoods.base import AbstractLikelihood, FunctionValues, PointLogProb, check_numbers
from gfsvi.likelihoods.expectations import expectation_by_quadrature, marginal_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets, dirichlet_targets
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.values import AbstractValues


class Bernoulli(AbstractLikelihood):
    """y is 1 with probability 1 / (1 + exp(-f)), otherwise 0."""

    pseudo_count: float = eqx.field(static=True, default=0.01)

    def check(self, y: Any) -> None:
        labels = np.unique(check_numbers(self, y, single=True))
        if not np.all(np.isin(labels, (0, 1))):
            raise ValueError(
                f"Bernoulli expects labels 0 and 1; got {labels[:5]}. "
                "Encode them as 0 and 1, or use Categorical for more than two classes."
            )

    def num_outputs(self, y: Array) -> int:
        return 1

    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        return jax.nn.log_sigmoid((2 * jnp.asarray(y).astype(f.dtype) - 1) * f[0])

    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        return expectation_by_quadrature(lambda f: self.log_prob(y, f), values)

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> CategoricalPredictive:
        f = marginal_draws(values, key=key)[:, 0]
        return CategoricalPredictive(jax.nn.log_sigmoid(jnp.stack([-f, f], axis=-1)))

    def gaussian_targets(self, y: Array, num_outputs: int | None = None) -> GaussianTargets:
        """The log-odds of the two classes' Dirichlet targets, with the noise of both."""
        y = jnp.asarray(y, float)
        targets, variances = dirichlet_targets(jnp.stack([1 - y, y]), self.pseudo_count)
        log_odds = targets[1:] - targets[:1]
        return GaussianTargets(log_odds, jnp.sum(variances, axis=0, keepdims=True))
