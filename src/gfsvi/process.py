"""Settings for processes of our own, the command line and workers; the library sets nothing."""

import os
import warnings
from pathlib import Path

MAX_BYTES = 2**30
MANY_ROWS = 20_000
ONE_THREAD = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""For small matrices, whose threads would wait for each other longer than they work."""


def prepare_jax(num_rows: int) -> None:
    """Settings for a table of this size; call it before anything is computed.

    With few rows one thread is faster, and much faster on a busy machine. What is compiled is
    kept, so that the second run of a command starts sooner.
    """
    if num_rows < MANY_ROWS:
        for name, value in ONE_THREAD.items():
            os.environ.setdefault(name, value)
    keep_compiled()


def keep_compiled() -> None:
    """Keep what JAX compiles for the next process."""
    import jax

    folder = cache_home() / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
    except OSError:  # no home, or not ours to write: every run compiles for itself
        return
    # A full disk, say: what cannot be kept is compiled again.
    warnings.filterwarnings("ignore", "Error (read|writ)ing persistent compilation cache")
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)


def _sweep(folder: Path) -> None:
    """Remove what a killed process had no time to write whole; JAX would stumble over it."""
    for program in folder.glob("*-cache"):
        used_at = program.with_name(f"{program.name.removesuffix('-cache')}-atime")
        if not used_at.exists():  # it is written last
            program.unlink(missing_ok=True)


def cache_home() -> Path:
    """Where things are kept that can be had again: GFSVI_CACHE, or the platform's usual place."""
    named = os.environ.get("GFSVI_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gfsvi"
