"""Compiled programs kept between runs: the second run of a command starts much sooner."""

import os
from pathlib import Path

import jax

MAX_BYTES = 2**30


def keep_compiled() -> None:
    """Let JAX keep what it compiles in the user's cache folder.

    For the command line only: it is a process of its own, a library must not change settings.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # no home, or not ours to write: every run compiles for itself
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)


def cache_folder() -> Path:
    """Where it is kept: GFSVI_CACHE, or the platform's usual place."""
    named = os.environ.get("GFSVI_CACHE")
    if named:
        return Path(named) / "compiled"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gfsvi" / "compiled"
