import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gfsvi.linalg import (
    cholesky,
    inverse_from_cholesky,
    normal_log_density,
    row_gram,
    solve_lower,
)


def positive(seed, batch, size):
    rows = np.random.default_rng(seed).normal(size=(batch, size, size + 2))
    return jnp.asarray(rows @ np.swapaxes(rows, 1, 2))


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 8), st.booleans())
def test_solves_and_inverses_are_numpys(seed, batch, size, transpose):
    matrix = positive(seed, batch, size)
    factor = cholesky(matrix)
    right = jnp.asarray(np.random.default_rng(seed).normal(size=(batch, size, 2)))
    used = np.swapaxes(factor, 1, 2) if transpose else factor
    np.testing.assert_allclose(
        solve_lower(factor, right, transpose), np.linalg.solve(used, right), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(
        inverse_from_cholesky(factor) @ matrix, np.stack([np.eye(size)] * batch), atol=1e-6
    )


def test_a_factor_is_repaired_with_the_known_floor():
    matrix = jnp.asarray(np.ones((1, 50, 50)))  # rank one: rounding decides the other 49 pivots
    factor = cholesky(matrix - 1e-15 * jnp.eye(50), floor=1e-12)
    assert bool(jnp.all(jnp.isfinite(factor)))
    np.testing.assert_allclose(factor @ jnp.swapaxes(factor, 1, 2), matrix, atol=1e-10)
    np.testing.assert_array_equal(factor, jnp.tril(factor))


def test_row_gram_of_float32_rows_is_double_and_positive_semi_definite():
    rows = jnp.asarray(np.random.default_rng(0).normal(size=(40, 5)), jnp.float32)
    gram = row_gram(rows)
    assert gram.dtype == jnp.float64
    assert float(jnp.min(jnp.linalg.eigvalsh(gram))) > -1e-12


def test_gradient_of_row_gram_is_that_of_the_plain_product():
    rows = jnp.asarray(np.random.default_rng(0).normal(size=(4, 3)))
    weights = jnp.asarray(np.random.default_rng(1).normal(size=(4, 4)))
    ours = jax.grad(lambda r: jnp.sum(weights * row_gram(r)))(rows)
    plain = jax.grad(lambda r: jnp.sum(weights * (r @ r.T)))(rows)
    np.testing.assert_allclose(ours, plain, rtol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_log_density_and_its_gradient_are_scipys(shared):
    from jax.scipy.stats import multivariate_normal

    cov = positive(0, 1 if shared else 3, 5)
    residual = jnp.asarray(np.random.default_rng(1).normal(size=(3, 5)))

    def plain(residual, cov):
        covs = jnp.broadcast_to(cov, (3, 5, 5))
        return sum(multivariate_normal.logpdf(residual[i], jnp.zeros(5), covs[i]) for i in range(3))

    assert normal_log_density(residual, cov) == pytest.approx(float(plain(residual, cov)))
    ours = jax.grad(normal_log_density, argnums=(0, 1))(residual, cov)
    theirs = jax.grad(plain, argnums=(0, 1))(residual, cov)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-8)
    symmetric = 0.5 * (theirs[1] + jnp.swapaxes(theirs[1], 1, 2))
    np.testing.assert_allclose(ours[1], symmetric, rtol=1e-8)
