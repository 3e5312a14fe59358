"""An environment for libraries that ours is compared with, apart from the project's own."""

import dataclasses
import subprocess
import sys
from pathlib import Path

from gfsvi.numerics.process import cache_home


@dataclasses.dataclass(frozen=True)
class Environment:
    """Packages of fixed versions in a folder of the cache.

    Args:
        name: Name of the folder.
        packages: Requirements of fixed versions, installed with what they need.
        alone: Requirements that are installed without what they ask for.
    """

    name: str
    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the environment is, once it is installed."""
        return cache_home() / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"

    @property
    def wanted(self) -> str:
        """Python and the requirements, one per line."""
        version = ".".join(str(part) for part in sys.version_info[:3])
        return "\n".join((f"python=={version}", *self.packages, *self.alone)) + "\n"

    @property
    def is_ready(self) -> bool:
        """Whether it is installed, with these versions."""
        said = self.folder / "installed.txt"
        return self.python.exists() and said.exists() and said.read_text() == self.wanted

    def install(self) -> Path:
        """Make the environment unless it is ready, and return its interpreter."""
        if self.is_ready:
            return self.python
        print(f"installing {len(self.packages)} packages into {self.folder}", file=sys.stderr)
        ready = self.folder / "installed.txt"
        ready.unlink(missing_ok=True)
        run(sys.executable, "-m", "venv", "--clear", str(self.folder))
        pip = (str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, *self.packages)
        if self.alone:
            run(*pip, "--no-deps", *self.alone)
        ready.write_text(self.wanted)
        return self.python


def run(*command: str) -> None:
    """Run a command whose output is for users, and end if it fails."""
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode != 0:
        raise SystemExit(
            f"expected to install the peers; '{' '.join(command[:5])}' ended with "
            f"{done.returncode}. See the messages above."
        )
