"""What every method promises; a new class in `gfsvi.methods` is tested for free."""

import dataclasses
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Fit, Model, Training, registry
from gfsvi.covariances import ClosedForm
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.functions.base import SampledFunction
from gfsvi.inference.mean_fit import TrainedMean
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.methods.base import AbstractMethod
from gfsvi.networks import MLP
from gfsvi.points import BatchRows
from gfsvi.storage import model_file as persistence
from gfsvi.training import Adam

X = np.array([[-1.0, 0.3], [-0.4, -0.7], [0.0, 0.9], [0.5, -0.2], [1.0, 0.1]])
TASKS = {
    "regression": (np.array([0.3, -0.9, 0.4, 1.1, -0.2]), Normal(0.3), 1),
    "classification": (np.array([0, 1, 1, 0, 1]), Categorical(num_classes=2), 2),
}
NEW_X = np.array([[0.2, 0.2], [3.0, -3.0], [-0.4, -0.7]])


def quick(method: AbstractMethod, dtype: Any = jnp.float32, outputs: int = 1) -> AbstractMethod:
    """The same method with few steps and a small network, as far as it has any."""
    short = Training(num_steps=3, optimizer=Adam(1e-2), evaluate_every=2)
    smaller = {
        "training": short,
        "mean": TrainedMean(short),
        "network": MLP((8,), outputs),
        "points": BatchRows(6),
        "num_inducing": 4,
        "dtype": dtype,
    }
    if isinstance(getattr(method, "covariance", None), ClosedForm):
        del smaller["training"]  # only the mean is trained
    fields = {field.name for field in dataclasses.fields(method)}
    if isinstance(getattr(method, "covariance", None), ClosedForm):  # which is not trained
        fields -= {"training"}
    return dataclasses.replace(method, **{n: v for n, v in smaller.items() if n in fields})


def prior_for(method: AbstractMethod, task: str, dtype: Any = jnp.float32) -> Model:
    """A prior of the kind that the method asks for."""
    _, likelihood, outputs = TASKS[task]
    if method.prior_kind is BayesianNetwork:
        network = MLP((8,), outputs)
        return Model(BayesianNetwork.prior(network, X, dtype=dtype), likelihood)
    return Model(GaussianProcess(Matern52(), outputs=outputs), likelihood)


def fit(method: AbstractMethod, task: str, dtype: Any = jnp.float32, seed: int = 0) -> Fit:
    """Fit five points."""
    data = Data(X, TASKS[task][0])
    method = quick(method, dtype, TASKS[task][2])
    return method(prior_for(method, task, dtype), data, key=jax.random.key(seed))


def fit_unless_refused(method: AbstractMethod, task: str) -> Fit | None:
    """A fit in single precision, or nothing if the task is refused at the door, in words."""
    try:
        return fit(method, task)
    except TypeError as refusal:
        assert "needs" in str(refusal) and "; got" in str(refusal), refusal
        return None


@pytest.fixture(params=registry.names("methods"), scope="module")
def method(request: pytest.FixtureRequest) -> AbstractMethod:
    """Each method, built with no arguments."""
    return registry.find("methods", request.param)()


@pytest.fixture(scope="module")
def first(method: AbstractMethod) -> tuple[str, Fit]:
    """The first task that the method takes, and a fit."""
    for task in TASKS:
        if (made := fit_unless_refused(method, task)) is not None:
            return task, made
    raise AssertionError("expected a method to take regression or classification")


def test_five_points_are_fitted_to_finite_predictions(first: tuple[str, Fit]) -> None:
    task, made = first
    check_predictions(made.posterior, task)


@pytest.mark.slow
def test_every_task_is_fitted_or_refused(method: AbstractMethod) -> None:
    for task in TASKS:
        if (made := fit_unless_refused(method, task)) is not None:
            check_predictions(made.posterior, task)


def check_predictions(posterior: Model, task: str) -> None:
    predictive = posterior.predict(NEW_X)
    if task == "regression":
        assert predictive.mean.shape == predictive.std.shape == (3,)
        assert np.all(np.isfinite(predictive.mean)) and np.all(predictive.std > 0)
        y = np.array([0.1, 0.2, -0.9])
    else:
        assert predictive.probabilities.shape == (3, 2)
        np.testing.assert_allclose(predictive.probabilities.sum(axis=1), 1, rtol=1e-6)
        y = np.array([0, 1, 1])
    for scores in (predictive.log_prob(y), predictive.expected_log_prob(y)):
        assert scores.shape == (3,) and np.all(np.isfinite(scores))


def test_the_same_key_gives_the_same_posterior(
    method: AbstractMethod, first: tuple[str, Fit]
) -> None:
    task, made = first
    again = fit(method, task).posterior
    for one, other in zip(arrays_of(made.posterior), arrays_of(again), strict=True):
        np.testing.assert_array_equal(one, other)


def arrays_of(model: Model) -> list[np.ndarray]:
    numbers = [leaf for leaf in jax.tree.leaves(model) if eqx.is_array(leaf)]
    is_key = [jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) for leaf in numbers]
    return [
        np.asarray(jax.random.key_data(leaf) if key else leaf)
        for leaf, key in zip(numbers, is_key, strict=True)
    ]


def test_compiled_or_not_the_prediction_is_the_same(first: tuple[str, Fit]) -> None:
    posterior = with_few_draws(first[1].posterior)
    compiled = posterior.predict(NEW_X)
    with jax.disable_jit():
        plain = posterior.predict(NEW_X)
    for one, other in zip(jax.tree.leaves(compiled), jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_functions_are_drawn_without_warnings_where_64_bit_types_are_off(
    first: tuple[str, Fit],
) -> None:
    function, key = with_few_draws(first[1].posterior).function, jax.random.key(0)
    with jax.enable_x64(False):  # as JAX starts; warnings are errors
        drawn = [function.at(NEW_X, key=key), function.marginals(NEW_X, key=key)]
        drawn = [values.sample(2, key=key) for values in drawn]
        if isinstance(function, SampledFunction):
            drawn.append(jnp.swapaxes(function.sample_function(key=key)(NEW_X), 0, 1)[None])
    for values in drawn:
        assert values.shape[-1] == len(NEW_X) and np.all(np.isfinite(values))


def with_few_draws(model: Model) -> Model:
    """The same model with fewer functions that stand for it, where it is known by draws."""
    if not hasattr(model.function, "num_samples"):
        return model
    return Model(dataclasses.replace(model.function, num_samples=3), model.likelihood)


@pytest.mark.slow
def test_networks_may_have_either_precision(method: AbstractMethod, first: tuple[str, Fit]) -> None:
    task, single = first
    double = fit(method, task, jnp.float64)
    check_predictions(double.posterior, task)
    for posterior, dtype in ((single.posterior, jnp.float32), (double.posterior, jnp.float64)):
        params = getattr(posterior.function, "params", ())
        assert all(leaf.dtype == dtype for leaf in jax.tree.leaves(params))


def test_a_posterior_comes_back_from_a_file_bit_by_bit(
    first: tuple[str, Fit], tmp_path: Path
) -> None:
    posterior = first[1].posterior
    persistence.write(tmp_path / "model.gfsvi", {"model": posterior})
    loaded = persistence.read(tmp_path / "model.gfsvi")["model"]
    for one, other in zip(arrays_of(posterior), arrays_of(loaded), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    predicted, predicted_again = (jax.tree.leaves(m.predict(NEW_X)) for m in (posterior, loaded))
    for one, other in zip(predicted, predicted_again, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_prior_of_the_wrong_kind_raises(method: AbstractMethod) -> None:
    if method.prior_kind not in (BayesianNetwork, GaussianProcess):
        return  # any prior with Gaussian values will do
    over_weights = BayesianNetwork.prior(MLP((8,)), X)
    over_functions = GaussianProcess(Matern52())
    wrong = over_weights if method.prior_kind is GaussianProcess else over_functions
    with pytest.raises(TypeError, match=rf"{type(method).__name__} needs a prior over .*; got "):
        method(Model(wrong, Normal(0.3)), Data(X, TASKS["regression"][0]), key=jax.random.key(0))


def test_observations_that_make_no_sense_raise(
    method: AbstractMethod, first: tuple[str, Fit]
) -> None:
    task = first[0]
    y = np.array([0.0, 1.0, np.nan, 1.0, 0.0])
    quickly = quick(method, outputs=TASKS[task][2])
    with pytest.raises(ValueError, match="expects"):
        quickly(prior_for(method, task), Data(X, y), key=jax.random.key(0))
