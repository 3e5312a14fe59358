"""The one way to write a file: whole, or not at all."""

import contextlib
import glob
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # there is none on Windows
    fcntl = None


class WriteError(ValueError):
    """A file that could not be written, said in one sentence: expected, got, remedy."""


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft beside `path` that takes its place if all goes well, and vanishes otherwise.

    The draft keeps the suffix of `path`, by which writers choose their format. Drafts that killed
    processes left behind are removed; those of living processes are locked.
    """
    draft = None
    try:
        target = _replaceable(path)
        _sweep(target)
        draft = target.with_name(f"{_draft_prefix(target)}{secrets.token_hex(4)}{_ending(target)}")
        with _in_use(draft):
            yield draft
            _flush(draft)
            os.replace(draft, target)
    except (OSError, _UnusablePath) as error:
        reason = getattr(error, "strerror", None) or error
        raise WriteError(
            f"expected to write {path}; it cannot be written: {reason}. "
            "Check that the folder exists, is writable and has room, or choose another name."
        ) from error
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every file system can flush a folder
        _flush(target.parent)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Put a whole file in place at once, or leave everything as it was."""
    with atomic_path(path) as draft:
        draft.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Put a whole text file in place at once, in UTF-8."""
    write_bytes(path, text.encode("utf-8"))


class _UnusablePath(ValueError):
    """A path that names nothing a file could replace."""


def _replaceable(path: str | os.PathLike[str]) -> Path:
    try:
        target = Path(os.path.realpath(path))  # a link stays a link
    except ValueError as error:  # a null byte
        raise _UnusablePath(error) from error
    if target.exists() and not target.is_file():
        kind = "a directory" if target.is_dir() else "a pipe or device"
        raise _UnusablePath(f"it is {kind}")
    return target


def _draft_prefix(target: Path) -> str:
    return f".{target.stem[:50]}."  # the name of a file has a largest length


def _ending(target: Path) -> str:
    return f".part{target.suffix[:20]}"


@contextlib.contextmanager
def _in_use(draft: Path) -> Iterator[None]:
    """Create a draft that others leave alone until this ends or the process is killed."""
    with open(draft, "xb") as file:
        if fcntl is None:
            file.close()  # Windows renames no open file
        else:
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep(target: Path) -> None:
    """Remove what killed processes left of this file."""
    if fcntl is None:
        return
    prefix, ending = glob.escape(_draft_prefix(target)), glob.escape(_ending(target))
    for draft in target.parent.glob(prefix + "[0-9a-f]" * 8 + ending):
        with contextlib.suppress(OSError), open(draft, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_size:  # an empty one may be locked the next moment
                draft.unlink()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
