"""Check that outputs can be written before hours of work."""

import os
import secrets
from pathlib import Path

from gfsvi.tables.reading import TableError


def check_outputs(outputs: dict[str, str | None], inputs: dict[str, str]) -> None:
    """Raise if an option names a file that cannot be written, is read, or is named twice.

    Args:
        outputs: The path given for each option, if any.
        inputs: The files that are read, by description.
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
        taken[_place(path)] = f"the file of {option} as well"


def _place(path: str) -> str:
    """The file that a path refers to, with links resolved."""
    return path if "\0" in path else os.path.realpath(path)


def _problem(path: str) -> str | None:
    if not path:
        return "which is empty"
    if "\0" in path:
        return "which contains a null character"
    try:
        return _obstacle(Path(_place(path)))
    except OSError as error:
        return f"which cannot be written ({error.strerror})"


def _obstacle(target: Path) -> str | None:
    """What prevents the file from being written, if anything; a draft is written to find out."""
    if target.is_dir():
        return "a folder"
    if target.exists() and not target.is_file():
        return "a pipe or device"
    if not target.parent.is_dir():
        return "whose folder does not exist"
    # A name as long as any that will be used while writing.
    draft = target.with_name(f".{secrets.token_hex(4)}.{target.name}.checkpoint")
    draft.touch(exist_ok=False)
    draft.unlink()
    return None
