"""One of several classes."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from gfsvi.likelihoods.base import AbstractLikelihood, FunctionValues, PointLogProb, check_numbers
from gfsvi.likelihoods.expectations import expectation_by_sampling, marginal_draws
from gfsvi.likelihoods.gaussian_targets import GaussianTargets, dirichlet_targets
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.values import AbstractValues


class Categorical(AbstractLikelihood):
    """y is class c with probability softmax(f)_c; there are as many classes as the labels show.

    Args:
        num_classes: give it where the labels at hand may lack the last class.
        num_samples: draws of the function for an expected log-probability.
        pseudo_count: Dirichlet count of a class before a label is seen, for `gaussian_targets`.
    """

    num_classes: int | None = eqx.field(static=True, default=None)
    num_samples: int = eqx.field(static=True, default=16)
    pseudo_count: float = eqx.field(static=True, default=0.01)

    def check(self, y: Any) -> None:
        labels = np.unique(check_numbers(self, y, single=True))
        if np.any(labels != np.round(labels)) or np.any(labels < 0):
            raise ValueError(
                f"Categorical expects labels 0, 1, 2, ...; got {labels[:5]}. "
                "Encode the classes as whole numbers from 0."
            )
        if self.num_classes is not None and labels[-1] >= self.num_classes:
            raise ValueError(
                f"Categorical expects labels below num_classes = {self.num_classes}; "
                f"got {labels[-1]}. Encode the classes from 0, or raise num_classes."
            )

    def num_outputs(self, y: Array) -> int:
        # A single class would leave nothing to learn, nor to compare with.
        return self.num_classes or max(2, int(np.max(np.asarray(y))) + 1)

    def log_prob(self, y: Array, f: FunctionValues) -> PointLogProb:
        labels = jnp.asarray(y).astype(int)
        log_probabilities = jax.nn.log_softmax(f, axis=0)
        return jnp.take_along_axis(log_probabilities, labels[None, :], axis=0)[0]

    def expected_log_prob(
        self, y: Array, values: AbstractValues, *, key: PRNGKeyArray
    ) -> PointLogProb:
        return expectation_by_sampling(
            lambda f: self.log_prob(y, f), values, key=key, num_samples=self.num_samples
        )

    def predict(self, values: AbstractValues, *, key: PRNGKeyArray) -> CategoricalPredictive:
        f = marginal_draws(values, num_samples=100, key=key)  # as many as the paper takes
        return CategoricalPredictive(jnp.swapaxes(jax.nn.log_softmax(f, axis=1), 1, 2))

    def gaussian_targets(self, y: Array, num_outputs: int | None = None) -> GaussianTargets:
        """Dirichlet targets of the labels, one output a class."""
        num_classes = self.num_outputs(y) if num_outputs is None else num_outputs
        one_hot = jax.nn.one_hot(jnp.asarray(y).astype(int), num_classes, dtype=float)
        return GaussianTargets(*dirichlet_targets(one_hot.T, self.pseudo_count))
