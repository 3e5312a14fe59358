import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi import registry
from gfsvi.inference.divergences import (
    Bound,
    error_bound,
    kl,
    regularized_divergence,
    regularized_kl,
)
from gfsvi.kernels import RBF, Matern12
from gfsvi.values import Gaussian

GAMMAS = [1e-15, 1e-10, 1e-6, 1e-3]


@jax.jit
def compiled_kl(q: Gaussian, p: Gaussian, gamma: jax.Array) -> jax.Array:
    return regularized_kl(q, p, gamma=gamma)


compiled_gradient = jax.jit(jax.grad(compiled_kl, argnums=(0, 1, 2)))


def numpy_kl(q: Gaussian, p: Gaussian, gamma: float) -> float:
    """The textbook formula, with explicit inverses and determinants."""
    total, num_points = 0.0, q.mean.shape[1]
    for output in range(len(q.mean)):
        added = gamma * num_points * np.eye(num_points)
        cov_q = np.asarray(q.cov)[output % len(q.cov)] + added
        cov_p = np.asarray(p.cov)[output % len(p.cov)] + added
        gap = np.asarray(q.mean)[output] - np.asarray(p.mean)[output]
        trace = np.trace(np.linalg.inv(cov_p) @ cov_q)
        ratio = np.linalg.slogdet(cov_p)[1] - np.linalg.slogdet(cov_q)[1]
        total += 0.5 * (trace - num_points + gap @ np.linalg.inv(cov_p) @ gap + ratio)
    return total


def gaussian(seed: int, outputs: int, points: int, rank: int, shared: bool = False) -> Gaussian:
    random = np.random.default_rng(seed)
    rows = random.normal(size=(1 if shared else outputs, points, rank)) / rank**0.5
    return Gaussian(random.normal(size=(outputs, points)), rows @ np.swapaxes(rows, 1, 2))


# Few shapes: each is compiled.
@given(st.integers(0, 10**6), st.sampled_from([(1, 1), (1, 12), (3, 5)]), st.booleans())
def test_regularized_kl_equals_the_textbook_formula(seed, shape, shared):
    outputs, points = shape
    q = gaussian(seed, outputs, points, points + 3)
    p = gaussian(seed + 1, outputs, points, points + 3, shared)
    value = compiled_kl(q, p, 1e-2)
    assert value == pytest.approx(numpy_kl(q, p, 1e-2), rel=1e-9)


def test_kl_is_the_regularized_one_without_regulariser():
    q, p = gaussian(0, 2, 8, 12), gaussian(1, 2, 8, 12)
    assert kl(q, p) == pytest.approx(numpy_kl(q, p, 0.0), rel=1e-9)


@given(st.integers(0, 10**6), st.sampled_from([1, 9]), st.sampled_from(GAMMAS))
def test_regularized_kl_is_zero_between_equal_gaussians(seed, points, gamma):
    q = gaussian(seed, 2, points, 3)
    assert compiled_kl(q, q, gamma) == pytest.approx(0.0, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(GAMMAS))
def test_regularized_kl_is_finite_and_not_negative_for_singular_gaussians(seed, rank, gamma):
    q, p = gaussian(seed, 2, 10, rank), gaussian(seed + 1, 2, 10, 1)
    value = float(compiled_kl(q, p, gamma))
    assert np.isfinite(value) and value >= 0


@given(st.integers(0, 10**6), st.sampled_from([2, 8]))
def test_regularized_kl_shrinks_as_gamma_grows(seed, points):
    q, p = gaussian(seed, 1, points, points), gaussian(seed + 1, 1, points, points)
    values = [float(compiled_kl(q, p, gamma)) for gamma in (1e-6, 1e-3, 1.0)]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    "num_points",
    [
        10,
        100,
        pytest.param(500, marks=pytest.mark.slow),
        pytest.param(1000, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("name", registry.names("kernels"))
def test_regularized_kl_is_finite_for_every_kernel_and_gamma(name, num_points):
    random = np.random.default_rng(0)
    x = random.uniform(-2, 2, size=(num_points, 1))
    prior = registry.find("kernels", name)()
    p = Gaussian(np.zeros((1, num_points)), prior.gram(jnp.asarray(x))[None])
    rows = np.sin(x * np.arange(1, 6))  # a network with five directions
    q = Gaussian(np.sin(3 * x).T, (rows @ rows.T)[None])
    for gamma in GAMMAS:
        value, pivot = regularized_divergence(q, p, gamma=gamma)
        assert np.isfinite(value) and value >= 0 and pivot > 0


@given(st.integers(0, 10**6), st.booleans())
def test_gradient_equals_finite_differences(seed, shared):
    q, p = gaussian(seed, 2, 5, 8), gaussian(seed + 1, 2, 5, 8, shared)
    leaves, structure = jax.tree.flatten((q, p, jnp.asarray(1e-2)))

    def value(leaves):
        return compiled_kl(*jax.tree.unflatten(structure, leaves))

    leaves = [jnp.asarray(leaf) for leaf in leaves]
    random = np.random.default_rng(seed)
    steps = [random.normal(size=leaf.shape) for leaf in leaves]
    steps = [s + np.swapaxes(s, -1, -2) if s.ndim == 3 else s for s in steps]
    steps[-1] = steps[-1] * 1e-2
    size = 1e-5
    ahead = value([leaf + size * s for leaf, s in zip(leaves, steps, strict=True)])
    behind = value([leaf - size * s for leaf, s in zip(leaves, steps, strict=True)])
    gradient = compiled_gradient(q, p, jnp.asarray(1e-2))
    gradient = jax.tree.leaves(gradient)
    slope = sum(float(jnp.sum(g * s)) for g, s in zip(gradient, steps, strict=True))
    assert slope == pytest.approx(float(ahead - behind) / (2 * size), rel=1e-4, abs=1e-4)


def estimate(num_points: int, seed: int) -> float:
    x = np.random.default_rng(seed).uniform(-1, 1, size=(num_points, 1))
    x = jnp.asarray(x)
    q = Gaussian(jnp.zeros((1, num_points)), RBF(1.0).gram(x)[None])
    p = Gaussian(jnp.zeros((1, num_points)), Matern12(1.0).gram(x)[None])
    return float(compiled_kl(q, p, jnp.asarray(0.1)))


def test_error_of_the_estimator_shrinks_like_one_over_root_m_and_stays_under_the_bound():
    truth = np.mean([estimate(800, seed) for seed in range(3)])
    sizes = [20, 80, 320]
    errors = [np.mean([abs(estimate(m, seed) - truth) for seed in range(20)]) for m in sizes]
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert slope < -0.4
    bounds = [error_bound(Bound(0, 1), Bound(0, 1), gamma=0.1, num_points=m) for m in sizes]
    assert all(error < bound for error, bound in zip(errors, bounds, strict=True))


def test_error_bound_is_the_appendix_formula():
    by_hand = (1 / 0.4) * 9 * (1 + 2 / 0.2) ** 2 * (
        2 * np.log(480) / 50 + np.sqrt(2 * np.log(480) / 50)
    ) + (1 / 0.08) * (1 + 4 + 2 * (2 + 2 / 0.2)) * (
        2 * np.log(120) / 50 + np.sqrt(2 * np.log(120) / 50)
    )
    value = error_bound(Bound(1, 1), Bound(2, 2), gamma=0.2, num_points=50, delta=0.1)
    assert value == pytest.approx(by_hand, rel=1e-12)


def test_error_bound_refuses_impossible_levels():
    with pytest.raises(ValueError, match="0 < delta < 1"):
        error_bound(Bound(0, 1), Bound(0, 1), gamma=0.1, num_points=5, delta=2.0)


def test_gaussians_of_different_points_are_refused():
    with pytest.raises(ValueError, match="same points"):
        kl(gaussian(0, 1, 3, 3), gaussian(0, 1, 4, 4))


def test_regularized_kl_is_double_precision_without_the_global_setting():
    with jax.enable_x64(False):
        q, p = gaussian(0, 1, 30, 2), gaussian(1, 1, 30, 2)
        value = regularized_kl(q, p, gamma=1e-10)
    assert value.dtype == np.float64
    assert float(value) == pytest.approx(float(regularized_kl(q, p, gamma=1e-10)), rel=1e-9)
