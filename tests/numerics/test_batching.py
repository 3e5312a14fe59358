"""Rows block by block give what all rows together do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.numerics.batching import map_blocks

X = jnp.asarray(np.random.default_rng(0).normal(size=(11, 3)), jnp.float32)


def sines_and_norms(rows):
    return jnp.sin(rows), jnp.sum(rows**2, axis=1)


@pytest.mark.parametrize("size", [1, 4, 11, 50])
def test_blocks_of_any_size_give_the_same_rows(size):
    sines, norms = map_blocks(sines_and_norms, X, size)
    np.testing.assert_allclose(sines, np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(norms, np.sum(np.square(X), axis=1), rtol=1e-6)


def test_rows_that_fill_up_the_last_block_have_no_gradient():
    gradient = jax.grad(lambda x: jnp.sum(map_blocks(sines_and_norms, x, 4)[1]))(X)
    np.testing.assert_allclose(gradient, 2 * X, rtol=1e-6)
