"""JAX settings for the command line and workers; the library itself sets nothing."""

import os
import tempfile
import warnings
from pathlib import Path

from gfsvi.numerics.threads import MANY_ROWS

MAX_BYTES = 2**30
SINGLE_THREAD = "--xla_cpu_multi_thread_eigen=false"
QUICK_TO_COMPILE = "--xla_backend_optimization_level=1 --xla_cpu_use_fusion_emitters=false"
KNOWN_TO = (0, 10)


def prepare_jax(num_rows: int) -> None:
    """Configure JAX for a table of this size; call it before anything is computed.

    Compiled programs are cached, so that the next run of a command starts faster.
    """
    if num_rows < MANY_ROWS:
        for name, value in for_small_matrices().items():
            os.environ.setdefault(name, value)
    keep_compiled()


def for_small_matrices() -> dict[str, str]:
    """Environment variables for a process that works with small matrices.

    Most of the time is spent in library calls, so less optimisation saves a third of compiling.
    """
    import jax

    # XLA aborts the process if it does not know a flag.
    known = tuple(jax.__version_info__[:2]) == KNOWN_TO
    alone = with_one_thread()
    return alone | {"XLA_FLAGS": f"{SINGLE_THREAD} {QUICK_TO_COMPILE}"} if known else alone


def with_one_thread() -> dict[str, str]:
    """Environment variables for a process that has one core to itself.

    Threads would spend more time waiting than working, and far more on a busy machine.
    """
    return {"XLA_FLAGS": SINGLE_THREAD, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def keep_compiled() -> None:
    """Cache the programs that JAX compiles for later processes."""
    import jax

    try:
        folder = cache_home() / "compiled"
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        _check_writable(folder)
    except (OSError, RuntimeError):  # no home, or not writable: every run compiles for itself
        return
    # For example on a full disk: programs that cannot be cached are compiled again.
    warnings.filterwarnings("ignore", "Error (read|writ)ing persistent compilation cache")
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.05)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)


def _sweep(folder: Path) -> None:
    """Remove files that a killed process left incomplete, which JAX cannot read."""
    for program in folder.glob("*-cache"):
        used_at = program.with_name(f"{program.name.removesuffix('-cache')}-atime")
        if not used_at.exists():  # it is written last
            program.unlink(missing_ok=True)


def _check_writable(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder):
        pass


def cache_home() -> Path:
    """The cache directory: GFSVI_CACHE, or the platform's usual place.

    Raises `RuntimeError` if the user has no home directory.
    """
    named = os.environ.get("GFSVI_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gfsvi"
