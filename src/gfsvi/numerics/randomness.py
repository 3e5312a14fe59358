"""Random numbers of NumPy from the keys of JAX, without compiling anything."""

from typing import cast

import jax
import numpy as np
from jaxtyping import PRNGKeyArray


def generator(key: PRNGKeyArray, number: int = 0) -> np.random.Generator:
    """NumPy's generator for a key; other numbers give independent generators."""
    return np.random.default_rng([number, *_words(key)])


def folded(key: PRNGKeyArray, number: int) -> PRNGKeyArray:
    """A key for each number, of the same kind: what `jax.random.fold_in` compiles a program for."""
    words = _words(key)
    state = np.random.SeedSequence([*words, number]).generate_state(len(words))
    bits = cast(jax.Array, state.astype(np.uint32))
    return jax.random.wrap_key_data(bits, impl=jax.random.key_impl(key))


def _words(key: PRNGKeyArray) -> list[int]:
    return np.asarray(jax.random.key_data(key)).ravel().tolist()
