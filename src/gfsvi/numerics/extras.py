"""Optional packages: which extra installs them, and what to say where they are missing."""

import contextlib
import importlib.util
from collections.abc import Iterator

EXTRAS = {
    "bench": ("filelock", "jinja2", "matplotlib"),
    "cluster": ("ray",),
    "export": ("flatbuffers",),
    "plots": ("matplotlib",),
    "report": ("jinja2", "matplotlib"),
    "search": ("optuna", "tomlkit"),
    "serve": ("starlette", "uvicorn"),
    "studio": ("starlette", "uvicorn"),
    "tables": ("pandas", "pyarrow", "filelock"),
}
"""The modules that each extra of this distribution adds."""


class MissingExtraError(ImportError):
    """A package that this use needs is not installed; the message says how to install it."""


def check_extra(extra: str, purpose: str) -> None:
    """Raise unless the packages of an extra are installed; none of them is imported.

    Args:
        extra: The name of the extra, such as "report".
        purpose: What needs it, as the subject of a sentence.
    """
    missing = [name for name in EXTRAS[extra] if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(missing_sentence(extra, purpose, missing), name=missing[0])


@contextlib.contextmanager
def packages_for(purpose: str, *names: str) -> Iterator[None]:
    """Say which packages to install if an import fails; no extra installs these."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{purpose} expects {' and '.join(names)}; {error.name} is not installed. "
            f"Run `pip install {' '.join(names)}`.",
            name=error.name,
        ) from error


def missing_sentence(extra: str, purpose: str, missing: list[str]) -> str:
    """Say what is missing and which command installs it, in quotes that every shell accepts."""
    verb = "is" if len(missing) == 1 else "are"
    return (
        f"{purpose} expects {' and '.join(EXTRAS[extra])}; {' and '.join(missing)} {verb} not "
        f'installed. Run `pip install "gfsvi[{extra}]"`.'
    )
