"""Dense linear algebra in float64 that survives rounding and has cheap gradients."""

import contextlib
import contextvars
import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

T = TypeVar("T")
Matrix = Float[Array, "*batch row column"]
# Sum of cubed sizes: a twentieth of where jaxlib 0.10 starts to split a batch over threads.
MAX_TOGETHER = 10_000
_REPAIRING = contextvars.ContextVar("repairing", default=True)


@functools.partial(jax.jit, static_argnums=0)
def map_in_chunks(function: Callable[[Matrix], T], matrices: Matrix) -> T:
    """Apply a function that LAPACK computes to a few matrices at a time.

    jaxlib splits large LAPACK batches over XLA's threads and waits for them in one of these
    threads; if all threads wait at once, the program deadlocks.
    """
    *batch, rows, columns = matrices.shape
    group = max(1, MAX_TOGETHER // max(1, rows, columns) ** 3)
    flat = jnp.reshape(matrices, (-1, rows, columns))
    if len(flat) <= group:
        return function(matrices)
    results = jax.lax.map(function, flat, batch_size=group)
    return jax.tree.map(lambda leaf: jnp.reshape(leaf, (*batch, *leaf.shape[1:])), results)


def plain_cholesky(matrix: Float[Array, "*batch n n"]) -> Matrix:
    """Lower Cholesky factor, NaN for matrices that are not positive definite."""
    return map_in_chunks(_lapack_cholesky, matrix)


def _lapack_cholesky(matrix: Matrix) -> Matrix:
    return jax.lax.linalg.cholesky(matrix, symmetrize_input=False)


def _lapack_upper(matrix: Matrix) -> Matrix:
    return jnp.linalg.qr(matrix, mode="r")


def cholesky(matrix: Float[Array, "*batch n n"], floor: Float[Array, ""] | float = 0.0) -> Matrix:
    """Lower Cholesky factor of a matrix whose eigenvalues are known to be at least `floor`.

    If rounding has pushed eigenvalues below zero, they are raised to `floor` instead of
    returning NaN.
    """
    factor = plain_cholesky(matrix)
    if not _REPAIRING.get():
        return factor
    return jax.lax.cond(
        jnp.all(jnp.isfinite(factor)), lambda: factor, lambda: _repaired_cholesky(matrix, floor)
    )


@contextlib.contextmanager
def without_repair() -> Iterator[None]:
    """Disable the repair of Cholesky factors while tracing, which halves compilation time.

    For callers that check the results and repeat the computation with repair if necessary.
    """
    token = _REPAIRING.set(False)
    try:
        yield
    finally:
        _REPAIRING.reset(token)


def _repaired_cholesky(matrix: Matrix, floor: Float[Array, ""] | float) -> Matrix:
    eigenvalues, vectors = map_in_chunks(jnp.linalg.eigh, matrix)
    resolution = jnp.finfo(matrix.dtype).eps * jnp.max(jnp.abs(eigenvalues), axis=-1, keepdims=True)
    eigenvalues = jnp.maximum(eigenvalues, jnp.maximum(floor, resolution))
    root = jnp.sqrt(eigenvalues)[..., :, None] * jnp.swapaxes(vectors, -1, -2)
    upper = map_in_chunks(_lapack_upper, root)
    signs = jnp.sign(jnp.diagonal(upper, axis1=-2, axis2=-1))
    return jnp.swapaxes(signs[..., :, None] * upper, -1, -2)


def solve_lower(
    factor: Float[Array, "#batch n n"], right: Float[Array, "#batch n k"], transpose: bool = False
) -> Float[Array, "batch n k"]:
    """L^{-1} B, or L^{-T} B, for one lower-triangular factor shared by all of `right`, or one each.

    LAPACK solves one matrix at a time; XLA's own batched solve is many times slower.
    """

    def solve(one_factor: Array, one_right: Array) -> Array:
        return jax.lax.linalg.triangular_solve(
            one_factor, one_right, left_side=True, lower=True, transpose_a=transpose
        )

    if len(factor) == 1:
        num_right, size, width = right.shape
        side_by_side = jnp.reshape(jnp.swapaxes(right, 0, 1), (size, num_right * width))
        solved = jnp.reshape(solve(factor[0], side_by_side), (size, num_right, width))
        return jnp.swapaxes(solved, 0, 1)
    right = jnp.broadcast_to(right, (len(factor), *right.shape[1:]))
    return jax.lax.map(lambda pair: solve(*pair), (factor, right))


def inverse_from_cholesky(factor: Float[Array, "batch n n"]) -> Matrix:
    """(L L^T)^{-1}."""
    identity = jnp.eye(factor.shape[-1], dtype=factor.dtype)
    inverse = solve_lower(factor, identity[None])
    return jnp.swapaxes(inverse, -1, -2) @ inverse


def add_to_diagonal(
    matrix: Float[Array, "*batch n n"], value: Float[Array, ""] | Float[Array, "*batch n"] | float
) -> Matrix:
    """A + value I, or A + diag(value)."""
    identity = jnp.eye(matrix.shape[-1], dtype=matrix.dtype)
    return matrix + jnp.asarray(value, matrix.dtype)[..., None] * identity


@jax.custom_vjp
def row_gram(rows: Float[Array, "*batch n k"]) -> Matrix:
    """A A^T in float64, with one matrix product in the backward pass instead of two.

    Rows may be float32: casting before the product keeps the result positive semi-definite,
    casting after it would not.
    """
    rows = rows.astype(jnp.float64)
    return rows @ jnp.swapaxes(rows, -1, -2)


def _row_gram_forward(rows: Matrix) -> tuple[Matrix, Matrix]:
    return row_gram(rows), rows


def _row_gram_backward(rows: Matrix, cotangent: Matrix) -> tuple[Matrix]:
    symmetric = cotangent + jnp.swapaxes(cotangent, -1, -2)
    return ((symmetric @ rows.astype(jnp.float64)).astype(rows.dtype),)


row_gram.defvjp(_row_gram_forward, _row_gram_backward)


@jax.custom_vjp
def normal_log_density(
    residual: Float[Array, "output n"], cov: Float[Array, "#output n n"]
) -> Float[Array, ""]:
    """Sum over outputs of log N(residual | 0, cov)."""
    return _normal_log_density_forward(residual, cov)[0]


def _normal_log_density_forward(residual: Array, cov: Array) -> tuple[Array, tuple[Array, Array]]:
    factor = cholesky(cov)
    white = solve_lower(factor, residual[..., None])[..., 0]
    log_pivots = jnp.log(jnp.diagonal(factor, axis1=-2, axis2=-1))
    log_pivots = jnp.broadcast_to(log_pivots, white.shape)
    value = -jnp.sum(0.5 * white**2 + log_pivots + 0.5 * jnp.log(2 * jnp.pi))
    return value, (factor, white)


def _normal_log_density_backward(
    saved: tuple[Array, Array], cotangent: Array
) -> tuple[Array, Array]:
    factor, white = saved
    weights = solve_lower(factor, white[..., None], transpose=True)
    # d log N / d cov = (alpha alpha^T - cov^{-1}) / 2 with alpha = cov^{-1} residual
    outer = weights @ jnp.swapaxes(weights, -1, -2)
    grad_cov = 0.5 * (outer - inverse_from_cholesky(factor))
    if len(factor) != len(white):
        grad_cov = jnp.sum(grad_cov, axis=0, keepdims=True)
    return -cotangent * weights[..., 0], cotangent * grad_cov


normal_log_density.defvjp(_normal_log_density_forward, _normal_log_density_backward)
