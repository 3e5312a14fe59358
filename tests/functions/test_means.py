"""Mean functions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.functions import GaussianProcess
from gfsvi.functions.means import Constant, Function, Linear, Zero
from gfsvi.kernels import RBF

X = np.random.default_rng(0).normal(size=(5, 2))
MEANS = [
    Zero(),
    Constant(0.5),
    Constant([0.5, -1.0]),
    Linear([1.0, 2.0]),
    Linear([[1.0, 2.0], [0.0, 1.0]], [3.0, 4.0]),
    Function(lambda x: jnp.sum(x, axis=1)),
]
every_mean = pytest.mark.parametrize("mean", MEANS, ids=lambda mean: type(mean).__name__)


@every_mean
def test_numpy_and_jax_points_give_the_same_in_double_precision(mean):
    values = mean.at(X)
    assert isinstance(values, jax.Array)
    assert values.dtype == jnp.float64
    np.testing.assert_array_equal(values, mean.at(jnp.asarray(X)))


@every_mean
def test_jit_changes_nothing(mean):
    jitted = jax.jit(lambda mean, x: mean.at(x))(mean, X)
    np.testing.assert_allclose(jitted, mean.at(X), rtol=1e-14)


@every_mean
def test_no_points_have_no_means(mean):
    assert mean.at(X[:0]).shape[1] == 0


@every_mean
def test_no_broadcast_is_implicit(mean):
    with jax.numpy_rank_promotion("raise"):
        mean.at(X)


def test_zero_is_one_row_of_zeros():
    np.testing.assert_array_equal(Zero().at(X), np.zeros((1, 5)))


def test_a_constant_is_one_row_for_each_of_its_values():
    np.testing.assert_array_equal(Constant().at(X), np.zeros((1, 5)))
    np.testing.assert_array_equal(Constant([0.5, -1.0]).at(X), [[0.5] * 5, [-1.0] * 5])


def test_a_linear_mean_is_an_affine_function_for_each_output():
    slope, intercept = np.array([[1.0, 2.0], [0.0, 1.0]]), np.array([3.0, 4.0])
    expected = (X @ slope.T + intercept).T
    np.testing.assert_allclose(Linear(slope, intercept).at(X), expected, rtol=1e-14)
    np.testing.assert_allclose(Linear(slope[0], 3.0).at(X), expected[:1], rtol=1e-14)


def test_a_linear_mean_flattens_images():
    images = np.random.default_rng(1).normal(size=(3, 2, 2))
    slope = np.arange(4.0)
    expected = images.reshape(3, 4) @ slope
    np.testing.assert_allclose(Linear(slope).at(images)[0], expected, rtol=1e-14)


def test_slopes_that_do_not_fit_the_features_raise():
    with pytest.raises(ValueError, match="one slope per feature; got 3 for points with 2 features"):
        Linear([1.0, 2.0, 3.0]).at(X)


def test_a_function_may_return_a_value_or_a_row_of_outputs_a_point():
    np.testing.assert_array_equal(Function(lambda x: x[:, 0]).at(X), X[:, :1].T)
    np.testing.assert_array_equal(Function(lambda x: x).at(X), X.T)


@pytest.mark.parametrize("function", [jnp.sum, lambda x: x.T, lambda x: x[None]])
def test_a_function_that_forgets_the_points_raises(function):
    message = r"one row of outputs per point; got shape .* for 5 points"
    with pytest.raises(ValueError, match=message):
        Function(function).at(X)


def test_means_have_gradients_by_their_parameters():
    gradient = jax.grad(lambda mean: jnp.sum(mean.at(X)))(Linear([1.0, 2.0], 0.5))
    np.testing.assert_allclose(gradient.slope, X.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(gradient.intercept, 5.0)


def test_a_process_takes_a_function_or_a_number_as_its_mean():
    of_function = GaussianProcess(RBF(), mean=lambda x: 2 * x[:, 0])
    np.testing.assert_allclose(of_function.at(X).mean, 2 * X[None, :, 0])
    np.testing.assert_allclose(GaussianProcess(RBF(), mean=3).marginals(X).mean, np.full((1, 5), 3))


def test_what_is_no_mean_raises():
    with pytest.raises(TypeError, match="expected a mean function: a number.*got 'zero'"):
        GaussianProcess(RBF(), mean="zero")
