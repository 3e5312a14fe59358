"""Whether something can be written where the user wants it, asked before hours of work."""

import os
import secrets
from pathlib import Path

from gfsvi.tables.reading import TableError


def check_outputs(outputs: dict[str, str | None], inputs: dict[str, str]) -> None:
    """Raise if an option names a file that cannot be written, is read, or is named twice.

    Args:
        outputs: What each option names, if it was given.
        inputs: Files that are read, by what they are.
    """
    taken = {_place(path): f"{what} itself" for what, path in inputs.items()}
    for option, path in outputs.items():
        if path is None:
            continue
        problem = _problem(path) or taken.get(_place(path))
        if problem:
            raise TableError(
                f"{option} expects the name of a file to write; got {path!r}, {problem}. "
                "Name another."
            )
        taken[_place(path)] = f"the file of {option} too"


def _place(path: str) -> str:
    """The file that a name stands for, links followed."""
    return path if "\0" in path else os.path.realpath(path)


def _problem(path: str) -> str | None:
    if not path:
        return "which is no name"
    if "\0" in path:
        return "which no file can be called"
    try:
        return _obstacle(Path(_place(path)))
    except OSError as error:
        return f"which cannot be written ({error.strerror})"


def _obstacle(target: Path) -> str | None:
    """What stands where the file should, if anything does; whether it may be written is tried."""
    if target.is_dir():
        return "a folder"
    if target.exists() and not target.is_file():
        return "a pipe or device"
    if not target.parent.is_dir():
        return "whose folder does not exist"
    # A name as long as that of any file on the way to this one.
    draft = target.with_name(f".{secrets.token_hex(4)}.{target.name}.checkpoint")
    draft.touch(exist_ok=False)
    draft.unlink()
    return None
