"""Settings of every test: double precision and repeatable examples."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import jax
import pytest

os.environ.setdefault(
    "XLA_FLAGS",
    # Small matrices: threads of XLA would wait for each other and for the other worker's.
    "--xla_cpu_multi_thread_eigen=false "
    # Compiles in a little more than half the time, which is most of the time of the tests.
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
)

jax.config.update("jax_enable_x64", True)
# Tests compile much and compute little.
jax.config.update("jax_disable_most_optimizations", True)

# No deadline: a first call compiles. Derandomised: the same examples on every machine.
hypothesis.settings.register_profile("gfsvi", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.load_profile("gfsvi")


def pytest_configure(config: pytest.Config) -> None:
    """Let workers, and the next run, share what one of them has compiled."""
    jax.config.update("jax_compilation_cache_dir", str(config.cache.mkdir("compiled")))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.01)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


@pytest.fixture(autouse=True, scope="module")
def _within_the_limit_of_mappings() -> Iterator[None]:
    """Forget compiled programs before there are too many.

    Each takes three memory mappings or more, and Linux ends a process that asks for 65,530.
    """
    yield
    mappings = Path("/proc/self/maps")
    if mappings.exists() and len(mappings.read_bytes().splitlines()) > 20_000:
        jax.clear_caches()


@pytest.fixture
def key() -> jax.Array:
    return jax.random.key(0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real browser; a machine without one skips, unless it must have one."""
    place = shutil.which("chromium") or shutil.which("chromium-browser")
    if place is None:
        if os.environ.get("GFSVI_REQUIRE_BROWSER"):
            pytest.fail("expected chromium, got none; install it or unset GFSVI_REQUIRE_BROWSER.")
        pytest.skip("no chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(autouse=True, scope="module")
def _trees_only_where_they_are_tested(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fits consider no trees, which take seconds, except in modules marked `trees`."""
    with pytest.MonkeyPatch.context() as patch:
        if request.node.get_closest_marker("trees") is None:
            patch.setattr("gfsvi.auto.members.FEWEST_ROWS", 10**9)
        yield
