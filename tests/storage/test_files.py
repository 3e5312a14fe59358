"""Atomic writes: a file is replaced as a whole or left as it was."""

import errno
import os
from pathlib import Path

import pytest

from gfsvi.storage.files import WriteError, atomic_path, write_bytes, write_text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with something in it."""
    path = tmp_path / "table.csv"
    path.write_text("old")
    return path


def test_a_file_is_replaced_and_nothing_else_is_left(path):
    write_bytes(path, b"new\r\n")
    assert path.read_bytes() == b"new\r\n"
    assert os.listdir(path.parent) == [path.name]


def test_text_is_written_as_utf_8_with_its_own_line_ends(path):
    write_text(path, "ä\n")
    assert path.read_bytes() == b"\xc3\xa4\n"


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t", ".hidden"])
def test_the_draft_is_hidden_in_the_same_folder_with_the_same_suffix(tmp_path, name):
    with atomic_path(tmp_path / name) as draft:
        draft.write_text("new")
        assert draft.parent == tmp_path and draft.name.startswith(".")
        assert draft.suffix == (Path(name).suffix or ".part")
        assert not (tmp_path / name).exists()
    assert os.listdir(tmp_path) == [name]


def test_nothing_is_left_when_the_disk_is_full(path, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    expected = "table.csv cannot be written: No space left on device. Check .* has room"
    with pytest.raises(WriteError, match=expected) as caught:
        write_bytes(path, b"new")
    assert "\n" not in str(caught.value)
    assert os.listdir(path.parent) == [path.name]
    assert path.read_text() == "old"


def test_an_interrupted_writer_leaves_the_old_file(path):
    with pytest.raises(KeyboardInterrupt), atomic_path(path) as draft:
        draft.write_text("half")
        raise KeyboardInterrupt
    assert os.listdir(path.parent) == [path.name]
    assert path.read_text() == "old"


def test_an_interruption_at_the_last_moment_leaves_the_old_file(path, monkeypatch):
    def interrupt(source: str, target: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(path, b"new")
    assert os.listdir(path.parent) == [path.name]
    assert path.read_text() == "old"


def test_an_error_of_the_writer_passes_and_leaves_the_old_file(path):
    with pytest.raises(ZeroDivisionError), atomic_path(path) as draft:
        draft.write_text(f"{1 / 0}")
    assert os.listdir(path.parent) == [path.name]
    assert path.read_text() == "old"


def test_what_a_killed_writer_left_is_swept_by_the_next(path):
    left = path.with_name(".table.0123abcd.part.csv")
    others = [".other.0123abcd.part.csv", ".table.0123abcd.part.txt", ".table.csv"]
    for name in (left.name, *others):
        path.with_name(name).write_bytes(b"half a table")
    write_bytes(path, b"new")
    assert not left.exists()
    assert all(path.with_name(name).exists() for name in others)


def test_what_a_running_writer_writes_is_not_swept(path):
    with atomic_path(path) as draft:
        draft.write_text("first")
        write_text(path, "second")
        assert path.read_text() == "second"
    assert path.read_text() == "first"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        (".", "it is a directory"),
        ("no_such_folder/t.csv", "No such file or directory"),
        ("table.csv/t.csv", "Not a directory"),
        ("a\0b", "null"),
        ("pipe", "it is a pipe or device"),  # stands for a device, which no test should risk
    ],
)
def test_a_place_that_cannot_be_written_is_refused_and_left_as_it_was(path, place, reason):
    pipe = path.with_name("pipe")
    os.mkfifo(pipe)
    with pytest.raises(WriteError, match=f"cannot be written: .*{reason}.* or choose another"):
        write_bytes(path.parent / place, b"new")
    assert sorted(os.listdir(path.parent)) == ["pipe", "table.csv"]
    assert pipe.is_fifo() and path.read_text() == "old"


def test_others_may_read_the_file_as_usual(path):
    write_bytes(path, b"new")
    plain = path.with_name("plain")
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_link_stays_a_link(path):
    link = path.with_name("link.csv")
    link.symlink_to(path)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("length", [200, 250])
def test_a_name_as_long_as_names_may_be_can_be_written(tmp_path, length):
    path = tmp_path / f"{'x' * length}.csv"
    write_bytes(path, b"new")
    assert os.listdir(tmp_path) == [path.name]
