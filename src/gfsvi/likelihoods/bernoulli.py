"""Yes or no."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import ArrayLike, PRNGKeyArray

from gfsvi.likelihoods.base import (
    AbstractLabelLikelihood,
    FunctionValues,
    PointLogProb,
    check_numbers,
)
from gfsvi.likelihoods.expectations import expectation_by_quadrature, marginal_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets, dirichlet_targets
from gfsvi.numerics.precision import namespace
from gfsvi.numerics.types import AnyArray
from gfsvi.predictives.base import ResponseDraws, Responses
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.values import AbstractValues


class Bernoulli(AbstractLabelLikelihood):
    """Yes or no: y is 1 with probability 1 / (1 + exp(-f)), otherwise 0."""

    pseudo_count: float = eqx.field(static=True, default=0.01)

    def check(self, y: ArrayLike) -> None:
        labels = np.unique(check_numbers(self, y, single=True))
        if not np.all(np.isin(labels, (0, 1))):
            raise ValueError(
                f"Bernoulli expects labels 0 and 1; got {labels[:5]}. "
                "Encode them as 0 and 1, or use Categorical for more than two classes."
            )

    def num_outputs(self, y: AnyArray) -> int:
        return 1

    def log_prob(self, y: AnyArray, f: FunctionValues) -> PointLogProb:
        return _log_sigmoid(y, f)[0]

    def expected_log_prob(
        self, y: AnyArray, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        # log_sigmoid bends at 0 and is straight beyond a few units on both sides
        return expectation_by_quadrature(lambda f: _log_sigmoid(y, f), values, width=2.0)

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> CategoricalPredictive:
        f = marginal_draws(values, key=key)[:, 0]
        numpy = namespace(f)
        # log sigmoid(f) = -log(1 + exp(-f))
        return CategoricalPredictive(-numpy.logaddexp(0, numpy.stack([f, -f], axis=-1)))

    def moments(self, f: FunctionValues) -> tuple[Responses, Responses]:
        probabilities = jax.nn.sigmoid(jnp.concatenate([-f, f]))
        return probabilities, probabilities * probabilities[::-1]

    def draw(self, f: FunctionValues, num_samples: int, *, key: PRNGKeyArray) -> ResponseDraws:
        return jax.random.bernoulli(key, jax.nn.sigmoid(f), (num_samples, *f.shape)).astype(int)

    def gaussian_targets(self, y: AnyArray, num_outputs: int | None = None) -> GaussianTargets:
        """The log-odds of the two classes' Dirichlet targets, with the noise of both."""
        y = jnp.asarray(y, float)
        targets, variances = dirichlet_targets(jnp.stack([1 - y, y]), self.pseudo_count)
        log_odds = targets[1:] - targets[:1]
        return GaussianTargets(log_odds, jnp.sum(variances, axis=0, keepdims=True))


def _log_sigmoid(y: AnyArray, f: FunctionValues) -> FunctionValues:
    return jax.nn.log_sigmoid((2 * jnp.asarray(y).astype(f.dtype) - 1) * f)
