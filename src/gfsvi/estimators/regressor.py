"""Regression on a table of numbers."""

from typing import Any, Literal, Self, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from gfsvi.auto.learner import seed_of
from gfsvi.estimators.base import AbstractEstimator, refuse
from gfsvi.estimators.chosen_method import AbstractChosenMethod
from gfsvi.functions.base import draw_values
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.model import Model
from gfsvi.numerics.batching import padded
from gfsvi.numerics.precision import double
from gfsvi.predictives.base import AbstractRealPredictive, user_layout


class AbstractRegressor(RegressorMixin, AbstractEstimator):
    """Numbers predicted with their uncertainty; several targets share one network."""

    @property
    def _task(self) -> Literal["regression", "classification"]:
        return "regression"

    def fit(self, X: Any, y: Any, **unsupported: Any) -> Self:
        """Learn from rows `X` and their targets, (row,) or (row, target)."""
        refuse(unsupported, self)
        options = {"multi_output": True, "y_numeric": True, "ensure_min_samples": 2}
        X, y = self._rows_and_targets(X, y, **options)
        return self._fit_rows(X, np.asarray(y, np.float64))

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """The mean, and if wanted the standard deviation or covariance of observations."""
        if return_std and return_cov:
            raise ValueError("predict expects return_std or return_cov; got both. Choose one.")
        predictive = self.predict_distribution(X)
        mean = np.asarray(predictive.mean)
        if return_std:
            return mean, np.asarray(predictive.std)
        if return_cov:
            return mean, self._covariance(X, np.asarray(predictive.std))
        return mean

    def predict_distribution(self, X: Any) -> AbstractRealPredictive:
        """The distribution of an observation at each row."""
        x = self._standardized(X)
        predictive = cast(AbstractRealPredictive, self.posterior_.predict(x))
        return predictive.rescaled(self.target_spread_, self.target_centre_)

    @double
    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> np.ndarray:
        """Observations drawn along functions of the posterior: (row, [target,] sample)."""
        x, key = self._standardized(X), jax.random.key(seed_of(random_state))
        drawn = np.asarray(_draws(self.posterior_, padded(x), n_samples, key))
        on_user_scale = drawn[:, : len(x)] * self.target_spread_ + self.target_centre_
        return np.moveaxis(on_user_scale, 0, -1)

    @double
    def _covariance(self, X: Any, std: np.ndarray) -> np.ndarray:
        """The correlations of the values on the model's scale, with these deviations."""
        values = self.posterior_.function.at(self._standardized(X))
        noise = jnp.reshape(jnp.asarray(self.posterior_.likelihood.noise), (-1, 1, 1))
        cov = np.asarray(values.cov + noise**2 * jnp.eye(values.cov.shape[-1]))
        root = np.sqrt(np.diagonal(cov, axis1=-2, axis2=-1))
        correlation = cov / (root[:, :, None] * root[:, None, :])
        deviations = np.atleast_2d(std.T)
        covariance = correlation * deviations[:, :, None] * deviations[:, None, :]
        return covariance[0] if std.ndim == 1 else np.moveaxis(covariance, 0, -1)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags


class GFSVIRegressor(AbstractRegressor):
    """Numbers predicted with their uncertainty; several targets share one network."""


class BayesianRegressor(AbstractRegressor, AbstractChosenMethod):
    """Regression by any method, chosen by name or given: "laplace", "mfvi", `Laplace(...)`."""


@eqx.filter_jit
def _draws(
    model: Model, x: np.ndarray, num_samples: int, key: Any
) -> Float[Array, "sample row *target"]:
    """Observations along functions drawn from the model."""
    likelihood = model.likelihood
    function_key, noise_key = jax.random.split(key)
    f = jnp.asarray(draw_values(model.function, x, num_samples, key=function_key), jnp.float64)
    noise = jnp.reshape(jnp.asarray(likelihood.noise), (-1, 1))
    z = f + noise * jax.random.normal(noise_key, f.shape)
    y = likelihood.warp.inverse(z) if isinstance(likelihood, WarpedNormal) else z
    return user_layout(y)
