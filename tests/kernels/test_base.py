"""The algebra of kernels, active dimensions, distances, and errors in words."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gfsvi.kernels import (
    RBF,
    Constant,
    Linear,
    LocallyPeriodic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    White,
    as_kernel,
)
from gfsvi.kernels.base import ActiveDimensions, Product, Scaled, Shifted, Sum
from gfsvi.kernels.distances import safe_sqrt, squared_distances, squared_distances_within
from gfsvi.numerics import constraints as params

X = np.random.default_rng(0).normal(size=(7, 3))
Z = np.random.default_rng(1).normal(size=(4, 3))
STATIONARY = [RBF, Matern12, Matern32, Matern52, RationalQuadratic, Periodic, LocallyPeriodic]

coordinates = st.floats(-10, 10, allow_subnormal=False)
point_sets = arrays(float, (5, 2), elements=coordinates)  # of one shape: compiled once
positive_numbers = st.floats(0.1, 10)
every_stationary_kernel = pytest.mark.parametrize("kernel", STATIONARY)


def assert_all_equal(kernel, expected):
    """`expected` maps one of the three questions to its answer."""
    questions = [lambda k: k.gram(X), lambda k: k.cross(X, Z), lambda k: k.diagonal(X)]
    for question in questions:
        np.testing.assert_allclose(question(kernel), expected(question), rtol=1e-14)


def test_kernels_add():
    kernel = RBF() + White(0.3)
    assert isinstance(kernel, Sum)
    assert_all_equal(kernel, lambda of: of(RBF()) + of(White(0.3)))


def test_kernels_multiply():
    kernel = RBF() * Linear()
    assert isinstance(kernel, Product)
    assert_all_equal(kernel, lambda of: of(RBF()) * of(Linear()))


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0), np.array(2.0), jnp.array(2.0)])
def test_numbers_scale_kernels_from_both_sides(number):
    for kernel in (number * RBF(), RBF() * number):
        assert_all_equal(kernel, lambda of: 2.0 * of(RBF()))


SCALED = {
    "a stationary kernel": (RBF([0.3, 1.0, 2.0]), 1),
    "a periodic kernel": (Periodic(variance=3.0), 1),
    "a kernel of some features": (Matern32(variance=0.2).on(0, 2), 1),
    "straight lines": (Linear([1.0, 2.0, 3.0]), 1),
    "a sum": (RBF() + White(0.3), 2),
    "a product": (RBF() * LocallyPeriodic(), 2),
    "a scaled function": (2.0 * as_kernel(lambda x, z: jnp.sum(x * z)), 1),
    "a kernel plus a constant": (RBF() + 0.5, 2),
}


@pytest.mark.parametrize(("kernel", "num_variances"), SCALED.values(), ids=SCALED)
def test_a_scaled_kernel_has_no_second_variance_to_learn(kernel, num_variances):
    scaled = 4.0 * (1.0 * kernel)
    assert_all_equal(scaled, lambda of: 4.0 * of(kernel))
    paths = jax.tree_util.tree_leaves_with_path(scaled)
    assert sum("variance" in jax.tree_util.keystr(path) for path, _ in paths) == num_variances


def test_a_scaled_kernel_keeps_its_family():
    assert isinstance(2.0 * RBF(0.3), RBF)
    assert float((2.0 * RBF(0.3, variance=1.5)).variance) == 3.0


def test_a_kernel_made_of_what_is_no_kernel_raises():
    for build in (
        lambda: Sum((RBF(), None)),
        lambda: Product((None,)),
        lambda: Scaled(None, 1.0),
        lambda: ActiveDimensions(None, (0,)),
    ):
        with pytest.raises(TypeError, match="expects kernels; got None. Pass a kernel such as RBF"):
            build()


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0), np.array(2.0), jnp.array(2.0)])
def test_numbers_add_to_kernels_from_both_sides_as_an_unknown_constant(number):
    for kernel in (number + RBF(), RBF() + number):
        assert isinstance(kernel, Shifted)
        assert_all_equal(kernel, lambda of: of(RBF()) + of(Constant(2.0)))


def test_sums_and_products_of_several_kernels_stay_flat():
    kinds = [RBF, Linear, White]
    for combined in (RBF() + Linear() + White(), RBF() + (Linear() + White())):
        assert isinstance(combined, Sum) and [type(term) for term in combined.terms] == kinds
    a, b, c = RBF(0.1), RBF(0.2), RBF(0.3)
    assert (a + b + c).terms[1] is b
    for combined in (RBF() * Linear() * White(), RBF() * (Linear() * White())):
        assert isinstance(combined, Product)
        assert [type(factor) for factor in combined.factors] == kinds
    mixed = RBF() + Linear() * White()
    assert isinstance(mixed, Sum) and isinstance(mixed.terms[1], Product)


def test_pythons_sum_adds_kernels():
    assert_all_equal(sum([RBF(), Linear(), White()]), lambda of: of(RBF() + Linear() + White()))


def test_a_long_expression_keeps_its_meaning():
    kernel = 2.0 * RBF(0.3) + Periodic() * Matern32().on(0, 2) + 0.5
    expected = 2 * RBF(0.3).gram(X) + Periodic().gram(X) * Matern32().gram(X[:, [0, 2]]) + 0.5
    np.testing.assert_allclose(kernel.gram(X), expected, rtol=1e-14)


@pytest.mark.parametrize("stranger", ["two", None, [2.0]])
def test_algebra_with_what_is_no_kernel_raises(stranger):
    match = f"another kernel or a positive number; got {type(stranger).__name__}.*as_kernel"
    for operation in (lambda: RBF() + stranger, lambda: RBF() * stranger):
        with pytest.raises(TypeError, match=match):
            operation()


@pytest.mark.parametrize("number", [-1.0, 0.0, np.nan])
def test_numbers_that_are_not_positive_raise(number):
    for operation in (lambda: number * RBF(), lambda: RBF() + number):
        with pytest.raises(ValueError, match="expects a positive, finite variance"):
            operation()


def test_an_array_times_a_kernel_raises():
    with pytest.raises(ValueError, match="Scaled expects one number as variance"):
        np.array([1.0, 2.0]) * RBF()


def test_a_composite_kernel_is_trained_through_jit_and_the_free_scale():
    kernel = 2.0 * RBF([0.3, 1.0]).on(0, 2) + Periodic() * Matern32() + 0.5
    free = params.to_free(kernel)

    @jax.jit
    def loss(free):
        return jnp.sum(params.from_free(free).gram(X))

    np.testing.assert_allclose(loss(free), np.sum(kernel.gram(X)), rtol=1e-12)
    gradients = jax.tree.leaves(jax.grad(loss)(free))
    assert len(gradients) == 8  # the factor 2.0 is the variance of the first kernel
    assert all(np.all(np.isfinite(gradient)) for gradient in gradients)


def test_active_dimensions_select_columns_of_numpy_and_jax_points():
    kernel = RBF([0.5, 2.0]).on(2, 0)
    assert_all_equal(RBF().on(0, 1, 2), lambda of: of(RBF()))
    expected = RBF([0.5, 2.0]).cross(X[:, [2, 0]], Z[:, [2, 0]])
    np.testing.assert_array_equal(kernel.cross(X, Z), expected)
    np.testing.assert_array_equal(kernel.cross(jnp.asarray(X), jnp.asarray(Z)), expected)
    np.testing.assert_allclose(eqx.filter_jit(kernel.cross)(X, Z), expected, rtol=1e-12)


def test_numpy_points_known_while_tracing_are_selected_too():
    jitted = jax.jit(lambda kernel: kernel.gram(X))(RBF().on(1))
    np.testing.assert_allclose(jitted, RBF().gram(X[:, 1]), rtol=1e-12)


def test_a_feature_that_is_not_there_raises():
    with pytest.raises(ValueError, match=r"features \(3,\); got points with 3 features"):
        RBF().on(3).gram(X)


@pytest.mark.parametrize("dimensions", [(), (-1,), (0.5,), ("",), (0, "a")])
def test_dimensions_that_are_no_columns_raise(dimensions):
    with pytest.raises(ValueError, match="expects their numbers, counted from 0; got"):
        RBF().on(*dimensions)


@pytest.mark.parametrize("kernel", [RBF(), Periodic(), Linear()])
def test_points_of_different_width_raise(kernel):
    with pytest.raises(ValueError, match="same number of features; got 3 and 2"):
        kernel.cross(X, Z[:, :2])


def test_squared_distances_are_those_of_all_differences():
    expected = np.sum((X[:, None] - Z[None]) ** 2, axis=-1)
    np.testing.assert_allclose(squared_distances(X, Z), expected, rtol=1e-13)


@pytest.mark.parametrize("num_features", [1, 3, 784])
def test_points_that_coincide_are_exactly_zero_apart(num_features):
    x = jnp.asarray(np.random.default_rng(0).normal(size=(40, num_features)))
    assert np.all(np.diagonal(squared_distances(x, x + 0.0)) == 0)
    twice = jnp.concatenate([x, x])
    assert np.all(np.diagonal(squared_distances_within(twice), offset=40) == 0)
    assert np.count_nonzero(squared_distances_within(x)) == 40 * 39


def test_distances_above_the_rounding_are_kept():
    x = np.array([[1.0], [1.0 + 1e-6]])
    assert squared_distances_within(jnp.asarray(x))[0, 1] > 0


def test_safe_square_root_is_a_square_root_with_a_flat_start():
    np.testing.assert_allclose(safe_sqrt(jnp.array([0.0, 4.0])), [0.0, 2.0])
    slopes = jax.vmap(jax.grad(safe_sqrt))(jnp.array([0.0, 4.0]))
    np.testing.assert_allclose(slopes, [0.0, 0.25])


def test_a_large_mixture_turns_the_rational_quadratic_into_an_rbf():
    np.testing.assert_allclose(RationalQuadratic(mixture=1e9).gram(X), RBF().gram(X), rtol=1e-7)


def test_a_periodic_kernel_repeats_after_one_period_of_each_feature():
    kernel = Periodic(lengthscale=[0.7, 1.0, 1.3], period=[0.5, 2.0, 3.0])
    shifted = X + 4 * np.array([0.5, 2.0, 3.0])
    np.testing.assert_allclose(kernel.cross(X, shifted), kernel.gram(X), rtol=1e-12)


def test_a_periodic_kernel_is_the_formula_with_sines():
    kernel = Periodic(lengthscale=[0.7, 1.0, 1.3], variance=1.4, period=[0.5, 2.0, 3.0])
    sines = np.sin(np.pi * (X[:, None] - Z[None]) / kernel.period) / kernel.lengthscale
    expected = 1.4 * np.exp(-2 * np.sum(sines**2, axis=-1))
    np.testing.assert_allclose(kernel.cross(X, Z), expected, rtol=1e-12)


def test_a_linear_kernel_weighs_each_feature():
    variance = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(Linear(variance).cross(X, Z), X @ np.diag(variance) @ Z.T)


def test_white_noise_is_independent_between_points_that_coincide():
    twice = np.concatenate([X, X])
    np.testing.assert_array_equal(White(0.3).gram(twice), 0.3 * np.eye(14))
    np.testing.assert_array_equal(White(0.3).cross(X, X), np.zeros((7, 7)))


@every_stationary_kernel
@given(x=point_sets, lengthscale=positive_numbers, variance=positive_numbers)
def test_gram_of_any_points_is_positive_semi_definite(kernel, x, lengthscale, variance):
    x = np.concatenate([x, x[:1]])
    eigenvalues = np.linalg.eigvalsh(kernel(lengthscale=lengthscale, variance=variance).gram(x))
    # 2e-7: two distances of the size of the rounding, each the root of 1e-16 * 100 / 0.1^2.
    assert eigenvalues[0] > -1e-6 * variance


@every_stationary_kernel
@given(x=point_sets, shift=st.floats(-100, 100))
def test_stationary_kernels_do_not_see_a_shift(kernel, x, shift):
    # Points far closer than the shift lose their distance before the kernel sees them.
    x = np.round(x, 3)
    np.testing.assert_allclose(kernel().gram(x + shift), kernel().gram(x), atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF, Matern12, Matern32, Matern52, RationalQuadratic])
@given(x=point_sets, factor=positive_numbers)
def test_scaling_points_and_length_scale_alike_changes_nothing(kernel, x, factor):
    x = np.round(x, 3)
    scaled = kernel(lengthscale=factor).gram(factor * x)
    np.testing.assert_allclose(scaled, kernel().gram(x), atol=1e-9)


@given(x=point_sets, weight=positive_numbers)
def test_sums_and_products_of_kernels_are_positive_semi_definite(x, weight):
    kernel = weight * RBF() * Linear() + Matern52() + White(0.1)
    eigenvalues = np.linalg.eigvalsh(kernel.gram(x))
    assume(np.all(np.isfinite(eigenvalues)))
    assert eigenvalues[0] > 0.1 - 1e-12 * eigenvalues[-1]
