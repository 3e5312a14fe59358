"""Whether something can be written where the user wants it, asked before hours of work."""

import os
import secrets
from pathlib import Path

from gfsvi.table import TableError


def check_outputs(outputs: dict[str, str | None], inputs: dict[str, str]) -> None:
    """Refuse options that name no file that could be written, or one that is read or named twice.

    Args:
        outputs: What each option names, if it was given.
        inputs: Files that are read, by what they are.
    """
    taken = {os.path.realpath(path): f"{what} itself" for what, path in inputs.items()}
    for option, path in outputs.items():
        if path is None:
            continue
        problem = _problem(path) or taken.get(os.path.realpath(path))
        if problem:
            raise TableError(
                f"{option} expects the name of a file to write; got {path!r}, {problem}. "
                "Name another."
            )
        taken[os.path.realpath(path)] = f"the file of {option} too"


def _problem(path: str) -> str | None:
    if not path:
        return "which is no name"
    if "\0" in path:
        return "which no file can be called"
    target = Path(os.path.realpath(path))
    if target.is_dir():
        return "a folder"
    if target.exists() and not target.is_file():
        return "a pipe or device"
    if not target.parent.is_dir():
        return "whose folder does not exist"
    return _refusal(target)


def _refusal(target: Path) -> str | None:
    """Why the system lets nobody write beside this file, found by trying."""
    # A name as long as that of any file on the way to this one.
    draft = target.with_name(f".{secrets.token_hex(4)}.{target.name}.checkpoint")
    try:
        draft.touch(exist_ok=False)
        draft.unlink()
    except OSError as error:
        return f"which cannot be written ({error.strerror})"
    return None
