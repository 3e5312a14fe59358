"""What a fit says while it works, and how it is stopped."""

import io
import os
import pty
import signal
import subprocess

import pytest

from gfsvi.cli import progress
from gfsvi.cli.progress import Reporter
from gfsvi.training.settings import Progress

HALFWAY = Progress(50, 100, -1.0, None)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)


def test_elsewhere_than_on_a_terminal_progress_is_plain_lines(impatient):
    stream = io.StringIO()
    with Reporter(stream=stream) as reporter:
        reporter.watch("posterior", HALFWAY)
    assert "75%  posterior, step 50 of 100, about 0 s left\n" in stream.getvalue()
    assert stream.getvalue().isprintable() is False  # it ends its line
    assert not {"\r", "\x1b"} & set(stream.getvalue())


def test_lines_do_not_follow_each_other_closely():
    stream = io.StringIO()
    with Reporter(stream=stream) as reporter:
        for _ in range(100):
            reporter.watch("mean", HALFWAY)
    assert stream.getvalue() == ""


def test_on_a_terminal_progress_is_a_bar_with_the_time_left():
    stream = Terminal()
    with Reporter(stream=stream) as reporter:
        reporter.watch("posterior", HALFWAY)
        reporter.say("a remark")
    shown = stream.getvalue()
    assert "█" * 18 + "░" * 6 + "  75%  posterior    0 s left" in shown
    assert "\r\x1b[Ka remark\n" in shown
    assert shown.endswith("\r\x1b[K")  # nothing of the bar stays


def test_the_bar_never_goes_back():
    stream = Terminal()
    with Reporter(stream=stream) as reporter:
        reporter.watch("prior", Progress(100, 100, 0.0, None))
        reporter.watch("prior", Progress(1, 100, 0.0, None))  # of the next family of kernels
    assert stream.getvalue().count(" 30%") == 2


@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_quiet_is_quiet(kind, impatient):
    stream = kind()
    with Reporter(quiet=True, stream=stream) as reporter:
        reporter.watch("posterior", HALFWAY)
        reporter.say("a remark")
        signal.raise_signal(signal.SIGINT)
    assert stream.getvalue() == ""


def test_the_first_interruption_stops_and_the_second_ends():
    stream, before = io.StringIO(), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), Reporter(stream=stream) as reporter:
        assert not reporter.watch("mean", HALFWAY)
        signal.raise_signal(signal.SIGINT)
        assert reporter.watch("mean", HALFWAY)
        assert "stopping with the best model so far" in stream.getvalue()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_interrupted_twice_nothing_is_left(run, table, monkeypatch):
    from gfsvi.auto import Learner

    def learn(self, table, preparation, weights):
        with open(self.parameters.checkpoint, "w"):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Learner, "learn_table", learn)
    answer = run("fit", table, "--target", "price", "--output", "model.gfsvi", "--quiet")
    assert answer == (130, "", "gfsvi: interrupted; nothing was written.\n")
    assert os.listdir() == ["houses.csv"]


@pytest.mark.slow
def test_ctrl_c_in_the_middle_keeps_the_best_model_so_far(start, run, table):
    process = start("fit", table, "--target", "price", "--output", "model.gfsvi")
    for line in process.stderr:
        if " step " in line:
            break
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert process.returncode == 0, error
    assert "stopping with the best model so far" in error
    assert out == "model: model.gfsvi\n"
    assert sorted(os.listdir()) == ["houses.csv", "model.gfsvi"]
    assert run("evaluate", "model.gfsvi", table)[0] == 0


@pytest.mark.slow
def test_a_pseudo_terminal_shows_a_bar(start, table):
    here, there = pty.openpty()
    words = ["fit", table, "--target", "price", "--output", "model.gfsvi", "--time-budget", "1"]
    process = start(*words, stderr=there, stdout=subprocess.DEVNULL)
    os.close(there)
    shown = b""
    while "░".encode() not in shown:
        shown += os.read(here, 1024)
    process.send_signal(signal.SIGKILL)
    os.close(here)
    assert b" s left" in shown
