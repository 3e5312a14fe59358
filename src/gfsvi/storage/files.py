"""Atomic writes: a file is replaced as a whole or left as it was."""

import contextlib
import glob
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no fcntl
    fcntl = None


class WriteError(ValueError):
    """A file could not be written; the message says why and what to do."""


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A draft in the folder of `path` that replaces it on success and is deleted on failure.

    The draft keeps the suffix of `path`, from which writers infer their format. Drafts left behind
    by killed processes are removed; those of running processes are locked.
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
            f"expected a file name to write to; {path} cannot be written: {reason}. "
            "Check that the folder exists, is writable and has room, or choose another name."
        ) from error
    finally:
        if draft is not None:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every file system can flush a folder
        _flush(target.parent)


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file atomically."""
    with atomic_path(path) as draft:
        draft.write_bytes(data)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 text file atomically."""
    write_bytes(path, text.encode("utf-8"))


class _UnusablePath(ValueError):
    """A path at which no file can be written."""


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
    return f".{target.stem[:50]}."  # file names have a maximum length


def _ending(target: Path) -> str:
    return f".part{target.suffix[:20]}"


@contextlib.contextmanager
def _in_use(draft: Path) -> Iterator[None]:
    """Create a draft and lock it, so that other processes do not sweep it."""
    with open(draft, "xb") as file:
        if fcntl is None:
            file.close()  # Windows does not rename open files
        else:
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep(target: Path) -> None:
    """Remove drafts of this file left behind by killed processes."""
    if fcntl is None:
        return
    prefix, ending = glob.escape(_draft_prefix(target)), glob.escape(_ending(target))
    for draft in target.parent.glob(prefix + "[0-9a-f]" * 8 + ending):
        with contextlib.suppress(OSError), open(draft, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_size:  # an empty one may be about to be locked
                draft.unlink()


def _flush(path: Path) -> None:
    # Windows flushes only files open for writing; folders can only be opened for reading.
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
