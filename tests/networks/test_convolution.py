"""Convolutions as products of matrices, against XLA's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.networks import CNN
from gfsvi.networks.layers import Convolution, MaxPool


def xla_convolution(matrix, x, size):
    filters = jnp.reshape(matrix[:-1], (size, size, x.shape[-1], -1))
    out = jax.lax.conv_general_dilated(
        x, filters, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return out + matrix[-1]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", [(3, 7, 5, 2), (2, 4, 4, 1)])
def test_a_convolution_and_its_gradient_are_those_of_xla(size, shape):
    with jax.enable_x64(True):
        random = np.random.default_rng(0)
        x = jnp.asarray(random.normal(size=shape))
        matrix = jnp.asarray(random.normal(size=(size**2 * shape[-1] + 1, 4)))
        stage = Convolution(4, size)
        np.testing.assert_allclose(
            stage.apply(matrix, x), xla_convolution(matrix, x, size), atol=1e-12
        )
        ours, theirs = (
            jax.grad(lambda m, v, f=f: jnp.sum(jnp.sin(f(m, v))), argnums=(0, 1))(matrix, x)
            for f in (stage.apply, lambda m, v: xla_convolution(m, v, size))
        )
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-11)


@pytest.mark.parametrize("height", [4, 5])
def test_pooling_is_the_largest_of_four(height):
    x = np.random.default_rng(0).normal(size=(2, height, 6, 3)).astype(np.float32)
    expected = np.stack(
        [x[:, i : height - height % 2 : 2, j::2] for i in (0, 1) for j in (0, 1)]
    ).max(axis=0)
    np.testing.assert_array_equal(MaxPool().apply(jnp.asarray(x)), expected)


def test_few_images_stand_for_many_when_a_network_begins():
    key = jax.random.key(0)
    network = CNN(channels=(2,), hidden=3, outputs=2)
    many = jnp.asarray(np.random.default_rng(0).normal(size=(1000, 6, 6, 1)), jnp.float32)
    params = network.init(many, key=key)
    assert network.apply(params, many[:3]).shape == (3, 2)
    # No array of all thousand images appears on the way.
    jaxpr = str(jax.make_jaxpr(lambda x: network.init(x, key=key))(many))
    assert "f32[1000,6,6,2]" not in jaxpr and "f32[256,6,6,2]" in jaxpr


def test_a_draw_of_a_stage_scatters_as_its_weights_say():
    stage, key = Convolution(2), jax.random.key(0)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(1, 3, 3, 1)), jnp.float32)
    matrix = jnp.ones((10, 2), jnp.float32)
    std = jnp.full((10, 2), 0.5, jnp.float32)
    draws = jax.vmap(lambda k: stage.sample_outputs(matrix, std, x, key=k))(
        jax.random.split(key, 20_000)
    )
    keys = jax.random.split(key, 20_000)
    moves = jax.vmap(lambda k: stage.perturbed_to_first_order(matrix, std, x, None, key=k)[1])(keys)
    # Every filter entry adds (0.5 x)^2 to the variance.
    squares = stage.apply(jnp.square(std), jnp.square(x))
    np.testing.assert_allclose(draws.var(axis=0), squares, rtol=0.05)
    np.testing.assert_allclose(moves.var(axis=0), squares, rtol=0.05)
    np.testing.assert_allclose(draws.mean(axis=0), stage.apply(matrix, x), atol=0.1)


def test_what_moves_its_inputs_moves_a_stage_too():
    stage, key = Convolution(2), jax.random.key(0)
    x, move = np.random.default_rng(0).normal(size=(2, 1, 3, 3, 1))
    matrix = jnp.asarray(np.random.default_rng(1).normal(size=(10, 2)))
    value, moved = stage.perturbed_to_first_order(matrix, jnp.zeros((10, 2)), x, move, key=key)
    expected = jax.jvp(lambda v: stage.apply(matrix, v), (x,), (move,))
    np.testing.assert_allclose(value, expected[0], rtol=1e-12)
    np.testing.assert_allclose(moved, expected[1], rtol=1e-12)
