"""What every kernel promises; a new file in `gfsvi.kernels` is found by itself."""

import dataclasses
import importlib
import inspect
import pkgutil

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import gfsvi.kernels
from gfsvi import registry
from gfsvi.kernels import AbstractKernel
from gfsvi.numerics import constraints as params


def own_kernels(module) -> list[type[AbstractKernel]]:
    """The kernels that a module defines."""
    classes = [item for _, item in inspect.getmembers(module, inspect.isclass)]
    kernels = [c for c in classes if issubclass(c, AbstractKernel) and not inspect.isabstract(c)]
    return [c for c in kernels if c.__module__ == module.__name__]


KERNELS = [registry.find("kernels", name) for name in registry.names("kernels")]
# Files of the package that define no kernel, and those whose kernels are made from other objects.
HELPERS = {"code", "composed_in_numpy", "derivatives", "distances", "in_numpy", "lengthscales"}
HELPERS |= {"stationary"}
NOT_BY_NAME = {"adapters", "helmholtz", "known", "one_of"}
ALGEBRA = {"ActiveDimensions", "Product", "Scaled", "Shifted", "Sum"}
# Parameters of which every feature may have its own.
PER_FEATURE = [
    pytest.param(kernel, field.name, id=f"{kernel.__name__}-{field.name}")
    for kernel in KERNELS
    for field in dataclasses.fields(kernel)
    if "feature" in str(field.type)
]

every_kernel = pytest.mark.parametrize(
    "kernel", [k() for k in KERNELS], ids=lambda k: type(k).__name__
)


@pytest.fixture
def x() -> np.ndarray:
    """Points in the plane, two pairs of which coincide, far from the origin."""
    points = np.random.default_rng(0).normal(size=(9, 2))
    return 3.0 + np.concatenate([points, points[:2]])


@pytest.fixture
def z() -> np.ndarray:
    return 3.0 + np.random.default_rng(1).normal(size=(4, 2))


def test_every_kernel_file_is_exported_by_the_package():
    files = {info.name for info in pkgutil.iter_modules(gfsvi.kernels.__path__)}
    assert files >= HELPERS | NOT_BY_NAME
    for name in files - NOT_BY_NAME:
        own = own_kernels(importlib.import_module(f"gfsvi.kernels.{name}"))
        if name == "base":
            assert {kernel.__name__ for kernel in own} == ALGEBRA
        else:
            assert len(own) == (0 if name in HELPERS else 1), f"{name} holds one kernel"
        assert all(getattr(gfsvi.kernels, kernel.__name__) is kernel for kernel in own)


def test_there_are_kernels_to_test():
    assert len(KERNELS) >= 10
    assert len(PER_FEATURE) >= 10


@every_kernel
def test_gram_is_symmetric(kernel, x):
    gram = kernel.gram(x)
    np.testing.assert_allclose(gram, gram.T, rtol=0, atol=1e-14 * np.max(np.abs(gram)))


@every_kernel
def test_gram_is_positive_semi_definite_even_where_points_coincide(kernel, x):
    eigenvalues = np.linalg.eigvalsh(kernel.gram(x))
    assert eigenvalues[0] > -1e-14 * len(x) * eigenvalues[-1]
    assert eigenvalues[-1] > 0


@every_kernel
def test_gram_equals_cross_off_the_diagonal(kernel, x):
    off_diagonal = ~np.eye(len(x), dtype=bool)
    gram, cross = np.asarray(kernel.gram(x)), np.asarray(kernel.cross(x, x))
    np.testing.assert_allclose(gram[off_diagonal], cross[off_diagonal], rtol=1e-14)


@every_kernel
def test_diagonal_is_the_diagonal_of_the_gram(kernel, x):
    assert kernel.diagonal(x).shape == (len(x),)
    np.testing.assert_allclose(kernel.diagonal(x), np.diagonal(kernel.gram(x)), rtol=1e-14)


@every_kernel
def test_cross_turns_over_when_its_arguments_do(kernel, x, z):
    assert kernel.cross(x, z).shape == (len(x), len(z))
    np.testing.assert_allclose(kernel.cross(x, z), kernel.cross(z, x).T, rtol=1e-12)


@every_kernel
def test_a_call_is_the_gram_or_the_cross_covariance(kernel, x, z):
    np.testing.assert_array_equal(kernel(x), kernel.gram(x))
    np.testing.assert_array_equal(kernel(x, z), kernel.cross(x, z))


@every_kernel
def test_points_that_coincide_correlate_as_if_they_were_one(kernel, x):
    if isinstance(kernel, gfsvi.kernels.White):
        pytest.skip("white noise is independent even there")
    gram = np.asarray(kernel.gram(x))
    np.testing.assert_allclose(gram[0, -2], gram[0, 0], rtol=1e-14)


@every_kernel
def test_gradients_with_respect_to_parameters_are_finite(kernel, x, z):
    def total(kernel):
        return jnp.sum(kernel.gram(x)) + jnp.sum(kernel.cross(x, z)) + jnp.sum(kernel.diagonal(x))

    gradient = jax.grad(total)(kernel)
    assert jax.tree.all(jax.tree.map(lambda leaf: np.all(np.isfinite(leaf)), gradient))
    assert np.all(gradient.variance != 0)


@every_kernel
def test_gradients_with_respect_to_coincident_points_are_finite(kernel, x):
    def total(points):
        return jnp.sum(kernel.gram(points) ** 2) + jnp.sum(kernel.cross(points, x) ** 2)

    assert np.all(np.isfinite(jax.grad(total)(jnp.asarray(x))))


@every_kernel
def test_gradients_agree_with_finite_differences(kernel, x):
    distinct = jnp.asarray(x[:5])
    weights = jnp.asarray(np.random.default_rng(2).normal(size=(5, 5)))

    def total(kernel, points):
        return jnp.sum(weights * kernel.gram(points))

    check_grads(total, (kernel, distinct), order=1, modes=["rev"])


@every_kernel
def test_jit_changes_nothing(kernel, x, z):
    jitted = jax.jit(lambda kernel, x, z: (kernel.gram(x), kernel.cross(x, z), kernel.diagonal(x)))
    plain = (kernel.gram(x), kernel.cross(x, z), kernel.diagonal(x))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), jitted(kernel, x, z), plain
    )


@every_kernel
def test_vmap_runs_over_a_stack_of_kernels(kernel, x):
    stack = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf]), kernel)
    grams = jax.vmap(lambda kernel: kernel.gram(x))(stack)
    doubled = jax.tree.map(lambda leaf: 2 * leaf, kernel)
    np.testing.assert_allclose(grams[0], kernel.gram(x), rtol=1e-12)
    np.testing.assert_allclose(grams[1], doubled.gram(x), rtol=1e-12)


@every_kernel
def test_a_kernel_survives_flattening_and_unflattening(kernel, x):
    leaves, structure = jax.tree.flatten(kernel)
    assert all(params.is_learnable(leaf) for leaf in leaves)
    rebuilt = jax.tree.unflatten(structure, leaves)
    assert eqx.tree_equal(rebuilt, kernel)
    np.testing.assert_array_equal(rebuilt.gram(x), kernel.gram(x))


@every_kernel
def test_positive_parameters_survive_the_free_scale(kernel, x):
    free = params.to_free(kernel)
    assert all(np.all(leaf == 0) for leaf in jax.tree.leaves(free))  # log 1
    moved = params.from_free(jax.tree.map(lambda leaf: leaf - 5.0, free))
    assert all(np.all(leaf > 0) for leaf in jax.tree.leaves(moved))
    np.testing.assert_allclose(params.from_free(free).gram(x), kernel.gram(x), rtol=1e-14)


@every_kernel
def test_variance_scales_the_covariance(kernel, x):
    larger = eqx.tree_at(lambda k: k.variance, kernel, 2.5 * kernel.variance)
    np.testing.assert_allclose(larger.gram(x), 2.5 * kernel.gram(x), rtol=1e-14)


@every_kernel
def test_double_precision_in_is_double_precision_out(kernel, x, z):
    for result in (kernel.gram(x), kernel.cross(x, z), kernel.diagonal(x)):
        assert result.dtype == jnp.float64


@every_kernel
def test_single_precision_sessions_work_too(kernel, x, z):
    expected = kernel.gram(x), kernel.cross(x, z), kernel.diagonal(x)
    with jax.enable_x64(False):
        results = kernel.gram(x), kernel.cross(x, z), kernel.diagonal(x)
    for result, exact in zip(results, expected, strict=True):
        assert result.dtype == jnp.float32
        np.testing.assert_allclose(result, exact, rtol=1e-4, atol=1e-5)


@every_kernel
def test_numpy_and_jax_points_give_the_same(kernel, x, z):
    np.testing.assert_array_equal(kernel.gram(x), kernel.gram(jnp.asarray(x)))
    np.testing.assert_array_equal(kernel.cross(x, z), kernel.cross(jnp.asarray(x), jnp.asarray(z)))


@every_kernel
def test_points_may_be_numbers_images_or_none_at_all(kernel, x):
    np.testing.assert_array_equal(kernel.gram(x[:, 0]), kernel.gram(x[:, :1]))
    images = np.random.default_rng(3).normal(size=(3, 2, 2))
    np.testing.assert_array_equal(kernel.gram(images), kernel.gram(images.reshape(3, 4)))
    assert kernel.cross(x[:0], x).shape == (0, len(x))


@every_kernel
def test_no_broadcast_is_implicit(kernel, x, z):
    with jax.numpy_rank_promotion("raise"):
        kernel.gram(x), kernel.cross(x, z), kernel.diagonal(x)


@pytest.mark.parametrize(("kernel", "name"), PER_FEATURE)
def test_every_feature_may_have_its_own_parameter(kernel, name, x, z):
    same, different = kernel(**{name: [1.0, 1.0]}), kernel(**{name: [0.7, 1.6]})
    np.testing.assert_allclose(same.gram(x), kernel().gram(x), rtol=1e-14)
    assert np.max(np.abs(different.gram(x) - kernel().gram(x))) > 1e-3
    swapped = kernel(**{name: [1.6, 0.7]})
    np.testing.assert_allclose(
        swapped.cross(x[:, ::-1], z[:, ::-1]), different.cross(x, z), rtol=1e-12
    )


@pytest.mark.parametrize(("kernel", "name"), PER_FEATURE)
def test_a_wrong_number_of_parameters_raises(kernel, name, x):
    with pytest.raises(ValueError, match="one per feature; got 3 for 2 features"):
        kernel(**{name: [1.0, 1.0, 1.0]}).gram(x)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("kernel", KERNELS)
def test_parameters_that_are_not_positive_raise(kernel, value):
    for field in dataclasses.fields(kernel):
        with pytest.raises(ValueError, match=f"{kernel.__name__} expects a positive.*{field.name}"):
            kernel(**{field.name: value})


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_array_where_one_number_is_meant_raises(kernel):
    for field in dataclasses.fields(kernel):
        if "feature" not in str(field.type):
            with pytest.raises(ValueError, match=f"expects one number as {field.name}; got"):
                kernel(**{field.name: [1.0, 2.0]})
