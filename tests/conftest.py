"""Settings of every test: double precision and repeatable examples."""

import hypothesis
import jax
import pytest

jax.config.update("jax_enable_x64", True)
# Tests compile much and compute little.
jax.config.update("jax_disable_most_optimizations", True)

# No deadline: a first call compiles. Derandomised: the same examples on every machine.
hypothesis.settings.register_profile("gfsvi", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.load_profile("gfsvi")


@pytest.fixture
def key() -> jax.Array:
    return jax.random.key(0)
