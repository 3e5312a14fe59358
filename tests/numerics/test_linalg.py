# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

import functools
import math
import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.extend.core import jaxprs_in_params

from gfsvi.inference.divergences import regularized_kl
from gfsvi.inference.wasserstein import squared_wasserstein
from gfsvi.numerics.linalg import (
    MAX_TOGETHER,
    cholesky,
    inverse_from_cholesky,
    map_in_chunks,
    normal_log_density,
    plain_cholesky,
    row_gram,
    solve_lower,
)
from gfsvi.values import Gaussian, Marginals


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


# XLA has as many threads as the process may use processors: with two, four batches block both.
FOUR_BATCHES_AT_ONCE = """
import os
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
import jax, jax.numpy as jnp
from gfsvi.numerics.linalg import cholesky, without_repair
jax.config.update("jax_enable_x64", True)
roots = jax.random.normal(jax.random.key(0), (4, 2, 200, 200))
batches = jnp.eye(200) + roots @ jnp.swapaxes(roots, -1, -2)

def step(scale, _):
    with without_repair():
        factors = [cholesky(batch * scale) for batch in batches]
    return 1 + 1e-9 * sum(map(jnp.sum, factors)), None

print(jax.jit(lambda: jax.lax.scan(step, 1.0, length=1000)[0])())
"""


@pytest.mark.slow
def test_batches_that_are_factored_at_once_do_not_wait_for_each_other():
    command = [sys.executable, "-c", FOUR_BATCHES_AT_ONCE]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    assert float(done.stdout) > 1


LAPACK = {"cholesky", "eigh", "svd", "geqrf", "householder_product", "lu", "triangular_solve"}


def lapack_operands(jaxpr):
    """Shapes of the matrices that a program hands to LAPACK, those of its loops included."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in LAPACK:
            yield equation.invars[0].aval.shape
        for inner in jaxprs_in_params(equation.params):
            yield from lapack_operands(inner)


def gaussian(scale, num_outputs, size=100):
    return Gaussian(jnp.zeros((num_outputs, size)), scale * positive(0, num_outputs, size))


def sample_at_each_point(scale):
    cov = scale * positive(0, 3000, 10)
    return Marginals(jnp.zeros((10, 3000)), cov).sample(2, key=jax.random.key(0))


PROGRAMS = {
    "cholesky": lambda scale: cholesky(scale * positive(0, 3, 100)),
    "divergence": lambda scale: regularized_kl(gaussian(scale, 3), gaussian(1, 3), gamma=1e-3),
    "wasserstein": lambda scale: squared_wasserstein(gaussian(scale, 2), gaussian(1, 2)),
    "density": lambda scale: normal_log_density(jnp.ones((9, 99)), scale * positive(0, 9, 99)),
    "sample": lambda scale: gaussian(scale, 3).sample(2, key=jax.random.key(0)),
    "marginals": sample_at_each_point,
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_batch_is_so_large_that_it_is_shared_among_threads(program):
    def total(scale):
        return jnp.sum(PROGRAMS[program](scale))

    operands = list(lapack_operands(jax.make_jaxpr(jax.value_and_grad(total))(1.0).jaxpr))
    assert operands
    for *batch, rows, columns in operands:
        assert math.prod(batch) == 1 or math.prod(batch) * max(rows, columns) ** 3 <= MAX_TOGETHER


@pytest.mark.parametrize("shape", [(4, 30, 30), (2, 3, 12, 12), (700, 4, 4), (25, 8, 8), (5, 5)])
def test_matrices_in_chunks_give_what_they_give_together(shape):
    root = np.random.default_rng(0).normal(size=shape)
    matrices = jnp.asarray(root @ np.swapaxes(root, -1, -2))
    np.testing.assert_allclose(plain_cholesky(matrices), np.linalg.cholesky(matrices), atol=1e-8)
    values, vectors = map_in_chunks(jnp.linalg.eigh, matrices)
    assert vectors.shape == shape
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrices), atol=1e-9)


def test_gradients_of_factors_in_chunks_are_those_of_factors_together():
    matrices = positive(0, 4, 30)
    ours = jax.grad(lambda m: jnp.sum(jnp.sin(plain_cholesky(m))))(matrices)
    together = functools.partial(jax.lax.linalg.cholesky, symmetrize_input=False)
    theirs = jax.grad(lambda m: jnp.sum(jnp.sin(together(m))))(matrices)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_a_factor_is_repaired_with_the_known_floor():
    matrix = jnp.asarray(np.ones((1, 50, 50)))  # rank one: rounding decides the other 49 pivots
    factor = cholesky(matrix - 1e-15 * jnp.eye(50), floor=1e-12)
    assert bool(jnp.all(jnp.isfinite(factor)))
    np.testing.assert_allclose(factor @ jnp.swapaxes(factor, 1, 2), matrix, atol=1e-10)
    np.testing.assert_array_equal(factor, jnp.tril(factor))


def test_no_eigenvalue_of_a_repaired_factor_is_below_the_floor():
    vectors = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    known = np.array([-1e-4, 1e-5, 0.1, 1.0, 2.0, 3.0])
    matrix = jnp.asarray(((vectors * known) @ vectors.T)[None])
    factor = np.asarray(cholesky(matrix, floor=1e-2))[0]
    raised = np.linalg.eigvalsh(factor @ factor.T)
    np.testing.assert_allclose(raised, [1e-2, 1e-2, 0.1, 1.0, 2.0, 3.0], rtol=1e-8)


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

    assert normal_log_density(residual, cov) == pytest.approx(plain(residual, cov))
    ours = jax.grad(normal_log_density, argnums=(0, 1))(residual, cov)
    theirs = jax.grad(plain, argnums=(0, 1))(residual, cov)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-8)
    symmetric = 0.5 * (theirs[1] + jnp.swapaxes(theirs[1], 1, 2))
    np.testing.assert_allclose(ours[1], symmetric, rtol=1e-8)
