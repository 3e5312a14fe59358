"""Activations by their names."""

import copy
import pickle

import jax
import jax.numpy as jnp
import pytest

from gfsvi.networks import CNN, MLP
from gfsvi.networks.activations import ACTIVATIONS, name_of


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_network_with_a_named_activation_can_be_pickled(name):
    network = MLP((5, 4), outputs=2, activation=ACTIVATIONS[name])
    again = pickle.loads(pickle.dumps(network))
    assert again == network and again.activation is ACTIVATIONS[name]
    x = jnp.ones((3, 2))
    params = network.init(x, key=jax.random.key(0))
    assert jnp.array_equal(again.apply(params, x), network.apply(params, x), equal_nan=True)


def test_so_can_a_convolutional_one_and_copies_are_equal():
    network = CNN((4,), hidden=8)
    assert pickle.loads(pickle.dumps(network)) == network == copy.deepcopy(network)


def test_a_function_of_ones_own_is_left_to_python():
    network = MLP(activation=abs)
    assert name_of(abs) is None and pickle.loads(pickle.dumps(network)).activation is abs
