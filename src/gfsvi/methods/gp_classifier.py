"""Laplace's approximation of a Gaussian process with a logistic or softmax link."""

import dataclasses
from typing import ClassVar, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.data import Data
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.conditioned_process import ConditionedProcess
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.evidence import most_probable, no_history
from gfsvi.inference.models import GPModel, K
from gfsvi.inference.sums import total_log_prob
from gfsvi.likelihoods.base import AbstractLikelihood, FunctionValues
from gfsvi.likelihoods.bernoulli import Bernoulli
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.constraints import is_learnable
from gfsvi.numerics.linalg import add_to_diagonal, cholesky, solve_lower
from gfsvi.numerics.precision import double
from gfsvi.training.history import Fit, History
from gfsvi.training.steps import Where

MAX_NEWTON_STEPS = 100
TOLERANCE = 1e-10
JITTER = 1e-8
SMALLEST_CURVATURE = 1e-10
ConditionedModel: TypeAlias = Model[ConditionedProcess, K]


class GPClassifier(AbstractMethod[GaussianProcess]):
    """Approximate the posterior of a process given labels by a Gaussian at its mode.

    Two classes (`Bernoulli`) follow Rasmussen and Williams (2006), Algorithm 3.1. For several
    (`Categorical`) the mode is exact, the curvature is its diagonal, class by class, and the
    kernel parameters stay as given: choose them beforehand with EmpiricalBayes.

    Args:
        num_starts: Number of starts from which to maximise the approximate log marginal
            likelihood of two classes first; 0 keeps the model's parameters.
        fixed: Picks the parts of the model that always stay fixed.
    """

    prior_kind: ClassVar[type[AbstractRandomFunction]] = GaussianProcess

    num_starts: int = eqx.field(static=True, default=0)
    fixed: Where | None = eqx.field(static=True, default=None)

    @double
    def __call__(
        self, model: GPModel[K], data: Data, *, key: PRNGKeyArray, validation: Data | None = None
    ) -> Fit[ConditionedModel[K]]:
        self._check(model, data)
        data = jax.tree.map(jnp.asarray, data)
        data = dataclasses.replace(data, x=data.x.astype(jnp.float64))
        model, history = self._with_best_parameters(model, data, key)
        single = isinstance(model.likelihood, Bernoulli)
        mode = _newton_mode(model, data) if single else _whitened_mode(model, data)
        # The Gaussian regression whose posterior has this mode and curvature.
        slope, curvature = _derivatives(model.likelihood, data, mode)
        targets = mode + slope / curvature
        function = ConditionedProcess.given(model.function, data.x, targets, 1 / curvature)
        return Fit(Model(function, model.likelihood), history)

    def _with_best_parameters(
        self, model: GPModel, data: Data, key: PRNGKeyArray
    ) -> tuple[GPModel, History]:
        if self.num_starts == 0 or not isinstance(model.likelihood, Bernoulli):
            return model, no_history()
        fit = most_probable(
            laplace_evidence, model, data, self.num_starts, key=key, fixed=self.fixed
        )
        return fit.posterior, fit.history

    def _check(self, model: GPModel, data: Data) -> None:
        self.check_prior(model)
        if not isinstance(model.likelihood, (Bernoulli, Categorical)):
            raise TypeError(
                "GPClassifier needs Bernoulli or Categorical as likelihood; got "
                f"{type(model.likelihood).__name__}. For numbers use ExactGP or SparseGP."
            )
        self.check(model, data)


@double
def laplace_evidence(model: GPModel, data: Data) -> Float[Array, ""]:
    """Laplace's approximation of log p(y | x) for one latent function (their Eq. 3.32)."""
    mean, cov = _prior_at(model, data)
    frozen = _newton_coefficients(_frozen(model), data)
    # A Newton step from the mode stays there; its gradient is the implicit gradient of the mode.
    coefficients = _newton_target(model, data, mean, cov, frozen)
    f = mean + cov @ coefficients
    _, curvature = _derivatives(model.likelihood, data, f[None])
    factor = _balanced_factor(cov, curvature[0])
    fit = total_log_prob(model.likelihood, data, f[None])
    return fit - coefficients @ (f - mean) / 2 - jnp.sum(jnp.log(jnp.diagonal(factor)))


def _frozen(model: GPModel) -> GPModel:
    """The model with gradients stopped."""
    return jax.tree.map(lambda n: jax.lax.stop_gradient(n) if is_learnable(n) else n, model)


def _prior_at(model: GPModel, data: Data) -> tuple[Float[Array, " n"], Float[Array, "n n"]]:
    values = model.function.at(data.x)
    return values.mean[0], values.cov[0]


@eqx.filter_jit
def _newton_mode(model: GPModel, data: Data) -> Float[Array, "1 n"]:
    mean, cov = _prior_at(model, data)
    return (mean + cov @ _newton_coefficients(model, data))[None]


def _newton_coefficients(model: GPModel, data: Data) -> Float[Array, " n"]:
    """K^{-1} (f - m) at the mode, by Newton steps that are halved until they improve."""
    mean, cov = _prior_at(model, data)

    def objective(coefficients: Array) -> Array:
        shift = cov @ coefficients
        fit = total_log_prob(model.likelihood, data, (mean + shift)[None])
        return fit - coefficients @ shift / 2

    def step(state: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        old, value, _, count = state
        direction = _newton_target(model, data, mean, cov, old) - old
        candidates = old + 0.5 ** jnp.arange(8)[:, None] * direction
        values = jax.lax.map(objective, candidates)
        best = jnp.argmax(values)
        better = values[best] > value
        new = jnp.where(better, candidates[best], old)
        return new, jnp.maximum(values[best], value), values[best] - value, count + 1

    def goes_on(state: tuple[Array, Array, Array, Array]) -> Array:
        return (state[2] > TOLERANCE) & (state[3] < MAX_NEWTON_STEPS)

    start = jnp.zeros_like(mean)
    first = (start, objective(start), jnp.array(jnp.inf), jnp.array(0))
    last = jax.lax.while_loop(goes_on, step, first)[0]
    return _newton_target(model, data, mean, cov, last)  # exact to rounding: quadratic


def _newton_target(
    model: GPModel, data: Data, mean: Array, cov: Array, coefficients: Array
) -> Array:
    """Where a full Newton step leads: a = b - W^½ B^{-1} W^½ K b, b = W (f - m) + slope."""
    f = jax.lax.stop_gradient(mean + cov @ coefficients)
    slope, curvature = (d[0] for d in _derivatives(model.likelihood, data, f[None]))
    root, factor = jnp.sqrt(curvature), _balanced_factor(cov, curvature)[None]
    b = curvature * (f - mean) + slope
    white = solve_lower(factor, (root * (cov @ b))[None, :, None])
    return b - root * solve_lower(factor, white, transpose=True)[0, :, 0]


def _balanced_factor(cov: Float[Array, "n n"], curvature: Float[Array, " n"]) -> Array:
    """Cholesky factor of B = I + W^½ K W^½."""
    root = jnp.sqrt(curvature)
    return cholesky(add_to_diagonal(root[:, None] * cov * root, 1.0), 1.0)


def _whitened_mode(model: GPModel, data: Data) -> FunctionValues:
    """The mode for several latent functions: a concave problem in v, where f = m + L v."""
    values = model.function.at(data.x)
    jitter = JITTER * jnp.mean(values.variance)
    factor = cholesky(add_to_diagonal(values.cov, jitter), jitter)[0]
    shape = values.mean.shape

    def loss(vector: np.ndarray) -> tuple[float, np.ndarray]:
        v = jnp.reshape(vector, shape)
        value, gradient = _whitened_loss(model.likelihood, data, values.mean, factor, v)
        return float(value), np.ravel(gradient)

    from scipy.optimize import minimize  # takes a second to import

    # The loss is 1-strongly convex: v is at most as far from the mode as its gradient from 0.
    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 0.0, "gtol": 1e-8, "maxcor": 30}
    result = minimize(
        loss, np.zeros(values.mean.size), jac=True, method="L-BFGS-B", options=options
    )
    return values.mean + jnp.reshape(result.x, shape) @ factor.T


@eqx.filter_jit
def _whitened_loss(
    likelihood: AbstractLikelihood, data: Data, mean: Array, factor: Array, v: Array
) -> tuple[Array, Array]:
    def loss(v: Array) -> Array:
        return jnp.sum(v**2) / 2 - total_log_prob(likelihood, data, mean + v @ factor.T)

    return jax.value_and_grad(loss)(v)


def _derivatives(
    likelihood: AbstractLikelihood, data: Data, f: FunctionValues
) -> tuple[FunctionValues, FunctionValues]:
    """Gradient of log p(y | f) and its negative second derivative, output by output."""

    def slope(f: Array) -> Array:
        return jax.grad(lambda f: total_log_prob(likelihood, data, f))(f)

    def second(direction: Array) -> Array:
        along = direction[:, None] * jnp.ones_like(f)
        return direction @ jax.jvp(slope, (f,), (along,))[1]

    curvature = -jax.vmap(second)(jnp.eye(len(f), dtype=f.dtype))
    return slope(f), jnp.maximum(curvature, SMALLEST_CURVATURE)
