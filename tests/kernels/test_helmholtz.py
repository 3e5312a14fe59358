"""The Helmholtz kernel against its formula, and the physics that it promises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi.fields import HelmholtzKernel, rows_at
from gfsvi.kernels import RBF, Constant, Linear, Matern12, Matern32, Matern52, RationalQuadratic
from gfsvi.kernels.base import AbstractKernel
from gfsvi.numerics.precision import double

NOTHING = 1e-30 * RBF()
SMOOTH = [RBF(0.7, 2.0), Matern52(0.9), RationalQuadratic(0.8), 2.0 * RBF(0.5) + Matern52(1.3)]
POSITIONS = np.random.default_rng(0).normal(size=(6, 2))


def closed_form(x, z, lengthscale, variance, *, rotation):
    """v / l^2 exp(-d^2 / 2 l^2) (I - d d' / l^2), with d rotated for a stream function."""
    d = x - z
    turned = np.array([d[1], -d[0]]) if rotation else d
    inner = np.eye(2) - np.outer(turned, turned) / lengthscale**2
    return variance / lengthscale**2 * np.exp(-d @ d / (2 * lengthscale**2)) * inner


@double
def test_for_rbf_it_is_the_closed_form():
    kernel = HelmholtzKernel(RBF(0.7, 2.0), RBF(1.3, 0.5))
    gram = np.asarray(kernel.gram(rows_at(POSITIONS)))
    for i, x in enumerate(POSITIONS):
        for j, z in enumerate(POSITIONS):
            block = closed_form(x, z, 0.7, 2.0, rotation=False)
            block = block + closed_form(x, z, 1.3, 0.5, rotation=True)
            np.testing.assert_allclose(gram[2 * i : 2 * i + 2, 2 * j : 2 * j + 2], block, rtol=2e-8)


@double
@pytest.mark.parametrize("base", [*SMOOTH, Matern32(0.8)], ids=lambda k: type(k).__name__)
def test_it_is_the_covariance_of_finite_differences(base):
    step = 1e-3
    kernel = HelmholtzKernel(base, NOTHING)
    x, z = POSITIONS[:1], POSITIONS[1:2]
    shifts = step * np.eye(2)
    expected = [
        sum(
            a * b * float(base.cross(x + a * shifts[i], z + b * shifts[j])[0, 0])
            for a in (-1, 1)
            for b in (-1, 1)
        )
        / (4 * step**2)
        for i in range(2)
        for j in range(2)
    ]
    got = kernel.cross(rows_at(x), rows_at(z))
    np.testing.assert_allclose(np.ravel(got), expected, rtol=1e-4, atol=1e-5)


@double
@pytest.mark.parametrize("base", [*SMOOTH, Matern32(0.8)], ids=lambda k: type(k).__name__)
def test_where_points_coincide_it_is_the_limit_of_close_ones(base):
    kernel = HelmholtzKernel(base, base)
    same = kernel.gram(rows_at(POSITIONS[:1]))
    close = kernel.cross(rows_at(POSITIONS[:1]), rows_at(POSITIONS[:1] + 3e-4))
    np.testing.assert_allclose(
        same, close, rtol=2e-2 if isinstance(base, Matern32) else 1e-5, atol=1e-4
    )


def derivative(kernel: AbstractKernel, operator: str, x, z):
    """Curl or divergence by x of the field's covariance with both components at z."""

    def component(number):
        return lambda p: kernel.cross(jnp.append(p, number)[None], jnp.asarray(rows_at(z)))[0]

    along = [jax.jacfwd(component(number))(jnp.asarray(x[0])) for number in (0, 1)]
    if operator == "divergence":
        return along[0][:, 0] + along[1][:, 1]
    return along[1][:, 0] - along[0][:, 1]


@double
@pytest.mark.parametrize("base", SMOOTH, ids=lambda kernel: type(kernel).__name__)
@pytest.mark.parametrize("z", [POSITIONS[1:2], POSITIONS[:1] + 0.05])
def test_a_gradient_has_no_curl_and_a_rotation_no_divergence(base, z):
    gradient, rotation = HelmholtzKernel(base, NOTHING), HelmholtzKernel(NOTHING, base)
    x = POSITIONS[:1]
    for kernel, none, some in ((gradient, "curl", "divergence"), (rotation, "divergence", "curl")):
        assert np.max(np.abs(derivative(kernel, none, x, z))) < 1e-9
        assert np.max(np.abs(derivative(kernel, some, x, z))) > 1e-2


@double
@given(st.integers(0, 1000))
def test_it_is_positive_semidefinite_with_its_own_diagonal(seed):
    random = np.random.default_rng(seed)
    rows = rows_at(random.normal(size=(5, 2)) * random.uniform(0.01, 3))
    kernel = HelmholtzKernel(Matern52(random.uniform(0.3, 3)), RBF(random.uniform(0.3, 3)))
    gram = np.asarray(kernel.gram(rows))
    np.testing.assert_allclose(gram, gram.T, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-7 * np.trace(gram)
    np.testing.assert_allclose(kernel.diagonal(rows), np.diag(gram), rtol=1e-7)


@double
def test_a_linear_potential_is_a_constant_flow():
    kernel = HelmholtzKernel(Linear(), NOTHING)
    gram = np.asarray(kernel.gram(rows_at(POSITIONS)))
    np.testing.assert_allclose(gram[::2, ::2], gram[0, 0], rtol=1e-6)
    np.testing.assert_allclose(gram[::2, 1::2], 0, atol=1e-9)
    assert np.max(np.abs(HelmholtzKernel(Constant(), NOTHING).gram(rows_at(POSITIONS)))) < 1e-12


def test_functions_without_a_gradient_are_refused():
    with pytest.raises(ValueError, match="differentiable functions; got a Matern12"):
        HelmholtzKernel(RBF() + 2.0 * Matern12())


def test_rows_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"rows \(x1, x2, component\); got .*\(4, 2\)"):
        HelmholtzKernel().gram(np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"positions in the plane, \(point, 2\); got \(4, 3\)"):
        rows_at(np.zeros((4, 3)))


def test_what_is_no_kernel_is_refused_at_construction():
    for part in ({"potential": None}, {"stream": None}):
        with pytest.raises(TypeError, match="HelmholtzKernel expects kernels; got None"):
            HelmholtzKernel(**part)
