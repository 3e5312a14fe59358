"""Where a result comes from: the commit, the locked versions and the processor."""

import functools
import hashlib
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[4]
"""The checkout that this module belongs to; of an installed package, some other folder."""
LOCK = "requirements.lock"
LENGTH = 12


@functools.cache
def commit(root: Path = ROOT) -> str | None:
    """The commit of a checkout, with `+` if its sources differ; None outside of a checkout."""
    if not (root / ".git").exists() or not (root / "src" / "gfsvi").is_dir():
        return None
    found = _git(root, "rev-parse", f"--short={LENGTH}", "HEAD")
    if found is None:
        return None
    changed = _git(root, "--no-optional-locks", "status", "--porcelain", "--", "src")
    return f"{found}+" if changed else found


@functools.cache
def lock(root: Path = ROOT) -> str | None:
    """A hash of the file of locked versions; None if there is none."""
    try:
        content = (root / LOCK).read_bytes()
    except OSError:
        return None
    return hashlib.sha256(content).hexdigest()[:LENGTH]


@functools.cache
def processor() -> str | None:
    """The name of the processor, on which the last digits of sums depend."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or None
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or None)


def _git(root: Path, *words: str) -> str | None:
    try:
        found = subprocess.run(
            ("git", "-C", str(root), *words), capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
