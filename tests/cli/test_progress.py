"""What a fit says while it works, and how it is stopped."""

import io
import os
import pty
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from gfsvi import GFSVIRegressor
from gfsvi.auto.phases import of_second_network
from gfsvi.cli.progress import Reporter
from gfsvi.numerics import progress
from gfsvi.numerics.progress import STAGES
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
    assert " 42%  fitting the posterior, step 50 of 100, almost done\n" in stream.getvalue()
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
    assert (
        "█" * 10 + "░" * 14 + "  42%  fitting the posterior, step 50 of 100, almost done" in shown
    )
    assert "\r\x1b[Ka remark\n" in shown
    assert shown.endswith("\r\x1b[K")  # nothing of the bar stays


def test_the_time_left_is_not_estimated_from_the_first_steps():
    stream = Terminal()
    with Reporter(stream=stream) as reporter:
        reporter.watch("prior", Progress(1, 100, 0.0, None))
    assert "  0%  choosing the prior, step 1 of 100, 0 s so far" in stream.getvalue()
    assert "left" not in stream.getvalue()


def test_the_bar_never_goes_back():
    stream = Terminal()
    with Reporter(stream=stream) as reporter:
        reporter.watch("prior", Progress(100, 100, 0.0, None))
        reporter.watch("prior", Progress(1, 100, 0.0, None))  # of the next family of kernels
    assert stream.getvalue().count(" 17%") == 2


def test_the_page_is_a_stage_like_the_others():
    stream = Terminal()
    with Reporter(stream=stream, has_page=True) as reporter:
        reporter.watch("examination", Progress(0, 1, 0.0, None))
        reporter.watch("page", Progress(1, 2, 0.0, None))
    assert " 50%  examining the fit" in stream.getvalue()
    assert " 80%  writing the page, step 1 of 2" in stream.getvalue()


def test_cross_validation_has_a_stage_of_its_own_and_none_comes_back():
    shown = []
    fitted = GFSVIRegressor(watch=lambda stage, _: shown.append(stage))
    x = np.random.default_rng(0).normal(size=(110, 2))
    fitted.fit(x, 3 * x[:, 0] + np.sin(2 * x[:, 1]))
    stages = list(dict.fromkeys(shown))
    assert [stage for stage in STAGES if stage in stages] == stages
    assert {"prior", "mean", "folds", "examination"} <= {*stages}


def test_the_network_beside_trees_is_told_apart():
    shown = []
    told = of_second_network(lambda stage, progress: shown.append(stage))
    assert told is not None and not told("mean", HALFWAY)
    assert shown == ["mean beside trees"]
    assert {f"{stage} beside trees" for stage in ("prior", "mean", "posterior")} <= {*STAGES}


def test_asked_to_stop_nothing_is_cross_validated():
    x = np.random.default_rng(0).normal(size=(110, 2))

    def watch(stage, _):
        shown.append(stage)
        return stage == "folds"

    shown = []
    GFSVIRegressor(watch=watch).fit(x, np.sin(x[:, 0]))
    assert shown.count("folds") <= 2 and "prior beside trees" not in shown


def test_time_passes_without_a_step(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)
    stream = io.StringIO()
    until = time.monotonic() + 60
    with Reporter(stream=stream):
        while stream.getvalue().count("preparing, ") < 3 and time.monotonic() < until:
            time.sleep(0.02)
    assert stream.getvalue().count("preparing, ") >= 3
    assert "preparing, 0 s so far" in stream.getvalue()


def test_a_notebook_shows_a_bar_that_is_updated(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda bundle, raw: shown.append(bundle["text/html"]))
    output = SimpleNamespace(display=lambda *_, **__: handle)
    monkeypatch.setitem(sys.modules, "ipykernel", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython.display", output)
    with progress.Display() as display:
        display.watch("mean", HALFWAY)
    assert "training the network, step 50 of 100" in shown[0] and "<progress" in shown[0]
    assert "done in" in shown[-1]


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
    process.stderr.readline()  # the fit has begun, and takes about a second
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
    words = ["fit", table, "--target", "price", "--output", "model.gfsvi"]
    process = start(*words, stderr=there, stdout=subprocess.DEVNULL)
    os.close(there)
    shown = b""
    while "█".encode() not in shown:
        shown += os.read(here, 1024)
    process.send_signal(signal.SIGKILL)
    os.close(here)
    assert "░".encode() in shown
