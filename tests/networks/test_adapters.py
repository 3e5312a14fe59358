"""Networks of other frameworks: the same outputs as there, and refusals in words."""

import sys

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from gfsvi.networks import (
    CNN,
    MLP,
    EquinoxNetwork,
    FlaxNNXNetwork,
    FunctionNetwork,
    HaikuNetwork,
    LinenNetwork,
    as_network,
)

X = np.linspace(-1.0, 1.0, 12).reshape(4, 3)


class NNXNetwork(nnx.Module):
    def __init__(self, *middle, outputs=2):
        rngs = nnx.Rngs(0)
        self.first, self.last = nnx.Linear(3, 5, rngs=rngs), nnx.Linear(5, outputs, rngs=rngs)
        self.middle = nnx.List(middle)

    def __call__(self, x):
        x = jnp.tanh(self.first(x))
        for layer in self.middle:
            x = layer(x)
        return self.last(x)


class LinenMLP(nn.Module):
    middle: tuple = ()

    @nn.compact
    def __call__(self, x):
        return nn.Dense(2)(nn.Sequential([nn.Dense(5), jnp.tanh, *self.middle])(x))


def haiku_mlp(x):
    return hk.nets.MLP([5, 2], activation=jnp.tanh)(x)


def haiku_dropout(x):
    return hk.dropout(hk.next_rng_key(), 0.5, haiku_mlp(x))


def haiku_batch_norm(x):
    return hk.BatchNorm(True, True, 0.9)(haiku_mlp(x), is_training=True)


def equinox_mlp(key, outputs=2):
    return eqx.nn.MLP(3, outputs, 5, 1, activation=jnp.tanh, key=key)


def assert_same_outputs(network, params, expected):
    assert np.shape(expected) == (4, 2)
    np.testing.assert_allclose(network.apply(params, X), expected, rtol=1e-6)


def test_an_equinox_module_keeps_its_outputs_and_its_weights(key):
    module = equinox_mlp(key)
    network = EquinoxNetwork(module)
    params = network.init(X, key=key, dtype=jnp.float64)
    assert_same_outputs(network, params, jax.vmap(module)(X))
    assert eqx.tree_equal(params.layers[0].weight, module.layers[0].weight)


def test_a_flax_nnx_module_keeps_its_outputs(key):
    module = NNXNetwork(nnx.LayerNorm(5, rngs=nnx.Rngs(1)))
    network = FlaxNNXNetwork(module)
    params = network.init(X, key=key, dtype=jnp.float64)
    assert_same_outputs(network, params, module(jnp.asarray(X)))


def test_a_flax_linen_module_keeps_its_outputs(key):
    module = LinenMLP()
    network = LinenNetwork(module)
    params = network.init(X, key=key, dtype=jnp.float64)
    assert_same_outputs(network, params, module.apply({"params": params}, X))


@pytest.mark.parametrize("wrap", [lambda f: f, hk.transform])
def test_a_haiku_function_keeps_its_outputs(key, wrap):
    network = HaikuNetwork(wrap(haiku_mlp))
    params = network.init(X, key=key, dtype=jnp.float64)
    assert_same_outputs(network, params, hk.transform(haiku_mlp).apply(params, None, X))


def test_a_haiku_function_without_a_key_keeps_its_outputs(key):
    transformed = hk.without_apply_rng(hk.transform(haiku_mlp))
    network = HaikuNetwork(transformed)
    params = network.init(X, key=key, dtype=jnp.float64)
    assert_same_outputs(network, params, transformed.apply(params, X))


def test_a_function_starts_from_the_parameters_given(key):
    network = FunctionNetwork(
        lambda p, x: x @ p["slope"] + p["shift"], {"slope": np.ones((3, 2)), "shift": 0.5}
    )
    params = network.init(X, key=key)
    assert_same_outputs(network, params, X @ np.ones((3, 2)) + 0.5)
    assert {leaf.dtype for leaf in jax.tree.leaves(params)} == {jnp.dtype("float32")}


def test_a_function_starts_from_what_its_initialiser_makes(key):
    def start(x, key):
        return jax.random.normal(key, (x.shape[1], 2))

    network = FunctionNetwork(lambda p, x: x @ p, start)
    params = network.init(X, key=key, dtype=jnp.float64)
    np.testing.assert_allclose(params, jax.random.normal(key, (3, 2)))


def test_initial_weights_follow_the_key_where_the_framework_draws_them(key):
    for network in (LinenNetwork(LinenMLP()), HaikuNetwork(haiku_mlp)):
        first, second = (network.init(X, key=k) for k in jax.random.split(key))
        assert not eqx.tree_equal(first, second)


def test_a_foreign_network_adds_nothing_to_learn_but_its_parameters(key):
    assert jax.tree.leaves(EquinoxNetwork(equinox_mlp(key))) == []
    assert jax.tree.leaves(FunctionNetwork(lambda p, x: x @ p, np.ones((3, 2)))) == []


def test_a_network_passes_through_jit_as_a_constant(key):
    module, traces = equinox_mlp(key), []

    @eqx.filter_jit
    def outputs(network, params):
        traces.append(network)
        return network.apply(params, X)

    for _ in range(2):
        network = EquinoxNetwork(module)
        outputs(network, network.init(X, key=key))
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (equinox_mlp, EquinoxNetwork),
        (lambda key: NNXNetwork(), FlaxNNXNetwork),
        (lambda key: LinenMLP(), LinenNetwork),
        (lambda key: hk.transform(haiku_mlp), HaikuNetwork),
        (lambda key: MLP(), MLP),
    ],
)
def test_as_network_recognises_every_framework(key, make, expected):
    assert type(as_network(make(key))) is expected


def test_as_network_says_what_to_do_with_a_bare_function():
    with pytest.raises(TypeError, match=r"got function\. For a function use FunctionNetwork"):
        as_network(lambda params, x: x)


def test_importing_the_adapters_imports_no_optional_framework():
    code = "import sys, gfsvi.networks; print([m for m in ('flax', 'haiku') if m in sys.modules])"
    import subprocess

    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def stateful_cases():
    rngs = nnx.Rngs(0)
    batch_norm = eqx.nn.BatchNorm(3, axis_name="batch", mode="ema")
    stateful = eqx.nn.Sequential([batch_norm, eqx.nn.Linear(3, 2, key=jax.random.key(0))])
    linen = LinenMLP((nn.BatchNorm(use_running_average=True),))
    return {
        "equinox": (lambda: EquinoxNetwork(stateful), "StateIndex"),
        "nnx": (lambda: FlaxNNXNetwork(NNXNetwork(nnx.BatchNorm(5, rngs=rngs))), "BatchStat"),
        "linen": (lambda: LinenNetwork(linen), "batch_stats"),
        "haiku": (lambda: HaikuNetwork(haiku_batch_norm), "get_state"),
        "haiku_with_state": (
            lambda: HaikuNetwork(hk.transform_with_state(haiku_batch_norm)),
            "transform_with_state",
        ),
    }


@pytest.mark.parametrize("name", stateful_cases())
def test_a_network_with_hidden_state_is_refused(key, name):
    make, found = stateful_cases()[name]
    with pytest.raises(ValueError, match=f"got a network with hidden state .*{found}.*Remove it"):
        make().init(X, key=key)


def random_cases():
    dropout = eqx.nn.Sequential([eqx.nn.Linear(3, 2, key=jax.random.key(0)), eqx.nn.Dropout(0.5)])
    linen = LinenMLP((nn.Dropout(0.5, deterministic=False),))
    return {
        "equinox": (lambda: EquinoxNetwork(dropout), "inference_mode"),
        "nnx": (lambda: FlaxNNXNetwork(NNXNetwork(nnx.Dropout(0.5, rngs=nnx.Rngs(0)))), "eval"),
        "linen": (lambda: LinenNetwork(linen), "deterministic=True"),
        "haiku": (lambda: HaikuNetwork(haiku_dropout), "Remove hk.dropout"),
    }


@pytest.mark.parametrize("name", random_cases())
def test_a_network_that_draws_random_numbers_is_refused(key, name):
    make, remedy = random_cases()[name]
    with pytest.raises(ValueError, match=f"draws random numbers.*{remedy}"):
        make().init(X, key=key)


def test_dropout_that_is_switched_off_is_accepted(key):
    layers = [eqx.nn.Linear(3, 2, key=key), eqx.nn.Dropout(0.5)]
    module = NNXNetwork(nnx.Dropout(0.5, rngs=nnx.Rngs(0)))
    module.eval()
    linen = LinenMLP((nn.Dropout(0.5, deterministic=True),))
    equinox = EquinoxNetwork(eqx.nn.inference_mode(eqx.nn.Sequential(layers)))
    for network in (equinox, FlaxNNXNetwork(module), LinenNetwork(linen)):
        params = network.init(X, key=key)
        assert network.apply(params, X).shape == (4, 2)


def test_outputs_without_an_output_axis_are_refused(key):
    module = equinox_mlp(key, outputs="scalar")
    network = EquinoxNetwork(module)
    with pytest.raises(ValueError, match=r"\(point, output\) for 4 points; got shape \(4,\)\."):
        network.apply(network.init(X, key=key), X)


def test_outputs_that_are_no_array_are_refused():
    network = FunctionNetwork(lambda p, x: (x @ p, x), np.ones((3, 2)))
    with pytest.raises(ValueError, match=r"got tuple\. Return one array"):
        network.apply(np.ones((3, 2)), X)


def test_a_function_without_parameters_is_refused(key):
    with pytest.raises(ValueError, match="expects initial parameters; got none"):
        FunctionNetwork(lambda p, x: x).init(X, key=key)


def test_whole_numbers_among_the_parameters_are_refused(key):
    network = FunctionNetwork(lambda p, x: x, {"degree": np.arange(3)})
    with pytest.raises(ValueError, match="floating-point arrays; got int64"):
        network.init(X, key=key)


def test_images_without_a_channel_axis_are_refused(key):
    images = np.zeros((2, 8, 8))
    with pytest.raises(
        ValueError, match=r"got \(point, 8, 8\)\. .*add its axis: x\[\.\.\., None\]"
    ):
        CNN().init(images, key=key)
    params = CNN().init(images[..., None], key=key)
    with pytest.raises(ValueError, match=r"\(point, height, width, channel\); got \(point, 8, 8\)"):
        CNN().apply(params, images)


def test_images_too_small_to_pool_are_refused(key):
    with pytest.raises(ValueError, match="at least 2 x 2 pixels; got 1 x 1"):
        CNN().init(np.zeros((2, 2, 2, 1)), key=key)


def test_inputs_of_another_width_than_the_weights_are_refused(key):
    params = MLP().init(X, key=key)
    with pytest.raises(ValueError, match="Dense expects 3 numbers per point; got 2"):
        MLP().apply(params, X[:, :2])
