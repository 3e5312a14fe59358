"""Processes of one fit are watched, and end together with one sentence."""

import subprocess
import sys

import pytest

from gfsvi.cli import watching
from gfsvi.cli.ray_processes import shares
from gfsvi.cli.watching import LOST, watched

OURS = "gfsvi: expected numbers, got 'a'."


class Pretended:
    """A process that writes a line at a time, and then has a status."""

    def __init__(self, said=(), status=None):
        self._said, self._status, self.killed = list(said), status, False

    def poll(self):
        return None if self._said else self._status

    def lines(self):
        return [("stdout", self._said.pop(0))] if self._said else []

    def kill(self):
        self.killed = True


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    monkeypatch.setattr(watching, "PAUSE", 0.001)
    monkeypatch.setattr(watching, "PATIENCE", 0.05)


def test_what_the_first_process_says_is_passed_on(capsys):
    processes = [Pretended(["one", "[Gloo] noise", "two"], 0), Pretended(["mine"], 0)]
    assert watched(processes) == 0
    assert capsys.readouterr().out == "one\ntwo\n"
    assert all(process.killed for process in processes)


def test_a_lost_process_ends_the_others_with_one_sentence(capsys):
    processes = [Pretended(["on"], None), Pretended([], -9)]
    assert watched(processes) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "process 1 of this fit was lost (status -9)" in said[0]
    assert "goes on from the checkpoint" in said[0]
    assert all(process.killed for process in processes)


def test_the_reason_of_a_process_comes_before_those_that_have_only_lost_it(capsys):
    processes = [Pretended(["gfsvi: process 0 has lost another"], LOST), Pretended([OURS], 2)]
    assert watched(processes) == 2
    assert capsys.readouterr().err == f"{OURS}\n"


def test_processes_end_when_watching_fails():
    class Failing(Pretended):
        def poll(self):
            raise KeyboardInterrupt

    processes = [Failing(), Pretended()]
    with pytest.raises(KeyboardInterrupt):
        watched(processes)
    assert all(process.killed for process in processes)


def test_a_watched_process_ends_with_the_one_that_watches_it():
    work = "from gfsvi.cli.watching import end_with_watcher as e; import time; e(); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", work], stdin=subprocess.PIPE)
    assert process.poll() is None
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(30) == LOST


@pytest.mark.parametrize(
    ("cores", "asked", "expected"),
    [
        ([4], None, (1, 4)),
        ([4, 4], None, (2, 4)),
        ([0, 2, 6], None, (2, 2)),
        ([2, 2, 2], None, (2, 2)),
        ([4, 4], 4, (4, 2)),
        ([2], 8, (8, 1)),
    ],
)
def test_processes_on_a_cluster_find_room(cores, asked, expected):
    assert shares(cores, asked) == expected
