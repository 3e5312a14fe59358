"""An environment for the libraries that ours is compared with, apart from the project's own."""

import subprocess
import sys
from pathlib import Path

from gfsvi.numerics.process import cache_home

WITH_DEPENDENCIES = (
    *("torch==2.13.0", "gpytorch==1.15.2", "linear-operator==0.6.1"),
    *("numpy==2.4.6", "scipy==1.17.1", "scikit-learn==1.9.1", "joblib==1.6.0", "jaxtyping==0.3.11"),
    *("filelock==4.2.10", "fsspec==2026.9.0", "jinja2==3.1.6", "mpmath==1.3.0", "networkx==3.6.1"),
    *("opt-einsum==3.4.0", "sympy==1.14.0", "tqdm==4.70.1", "typing-extensions==4.16.0"),
    *("cloudpickle==3.1.2", "markupsafe==3.0.4", "narwhals==2.28.0", "threadpoolctl==3.8.0"),
    "wadler-lindig==0.1.8",
)
ALONE = (
    *("laplace-torch==0.3", "curvlinops-for-pytorch==3.0.1", "backpack-for-pytorch==1.7.1"),
    *("asdfghjkl==0.1a4", "einconv==0.1.0", "einops==0.8.2", "lightning-utilities==0.15.3"),
    *("torchmetrics==1.9.0", "unfoldNd==0.2.3", "packaging==26.3"),
)
"""laplace-torch and what it imports; of what it asks for, torchvision is left out."""


def python_of_peers(folder: Path | None = None) -> Path:
    """The interpreter of the environment, which is made if it is missing or has other versions."""
    folder = cache_home() / "peers" if folder is None else folder
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready, wanted = folder / "installed.txt", wanted_versions()
    if not (python.exists() and ready.exists() and ready.read_text() == wanted):
        print(f"installing laplace-torch, GPyTorch and PyTorch into {folder}", file=sys.stderr)
        ready.unlink(missing_ok=True)
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        install = (str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        _run(*install, *WITH_DEPENDENCIES)
        _run(*install, "--no-deps", *ALONE)
        ready.write_text(wanted)
    return python


def wanted_versions() -> str:
    """Python and the requirements, one per line."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    return "\n".join((f"python=={version}", *WITH_DEPENDENCIES, *ALONE)) + "\n"


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=sys.stderr)
    if done.returncode != 0:
        raise SystemExit(
            f"expected to install the peers; '{' '.join(command[:5])}' ended with "
            f"{done.returncode}. See the messages above."
        )
