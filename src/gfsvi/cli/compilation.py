"""How the command line has its programs compiled and run; the library leaves such things alone."""

import os
import warnings
from pathlib import Path

MAX_BYTES = 2**30
MANY_ROWS = 20_000
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def prepare_jax(num_rows: int) -> None:
    """Settings for a table of this size; call it before anything is computed.

    The matrices of a small table are so small that threads wait for each other longer than they
    work: one thread is faster, and much faster on a busy machine. What is compiled is kept, so
    that the second run of a command starts sooner.
    """
    if num_rows < MANY_ROWS:
        os.environ.setdefault("XLA_FLAGS", ONE_THREAD)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _keep_compiled()


def _keep_compiled() -> None:
    import jax

    folder = cache_folder()
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


def cache_folder() -> Path:
    """Where compiled programs are kept: in GFSVI_CACHE, or in the platform's usual place."""
    named = os.environ.get("GFSVI_CACHE")
    if named:
        return Path(named) / "compiled"
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(home) / "gfsvi" / "compiled"
