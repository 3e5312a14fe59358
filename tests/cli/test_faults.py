"""Faults of the world around a command: signals, kills, homes, caches and other processes."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pandas as pd
import pytest

from gfsvi.bench.running.records import Records
from gfsvi.numerics.process import cache_home, keep_compiled

from .test_bad_tables import refused

FIT = ("--target", "price", "--kernel", "rbf", "--time-budget", "1", "--quiet")
EXPERIMENT = """
task = "curve"
datasets = ["sine"]
folds = 1
seeds = [0, 1]
[settings]
kernel = { name = "rbf", lengthscale = 0.3 }
[methods.exact_gp]
num_starts = 0
[methods.sparse_gp]
num_inducing = 10
training = { num_steps = 200 }
[search]
trials = 3
metric = "std_in_gap"
[search.space]
num_inducing = [5, 10, 20]
num_starts = [0]
"""


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, error = process.communicate(timeout=900)
    return process.returncode, out, error


def is_whole(path: Path, num_rows: int) -> bool:
    return len(pd.read_csv(path)) == num_rows


@pytest.mark.parametrize(
    ("signals", "status"),
    # The first control-C asks for the best model so far.
    [((signal.SIGTERM,), 143), ((signal.SIGINT, signal.SIGINT), 130)],
)
def test_a_signal_ends_a_fit_in_one_sentence_and_leaves_a_checkpoint_at_most(
    start, table, signals, status
):
    process = start("fit", table, "--target", "price", "--output", "model.gfsvi")
    line = process.stderr.readline()  # preparing has begun
    first, *others = signals
    process.send_signal(first)
    for number in others:  # as soon as the first is answered, before the fit ends
        while line and "stopping" not in line:
            line = process.stderr.readline()
        process.send_signal(number)
    code, _, error = ended(process)
    assert code == status, line + error
    assert error.rstrip().splitlines()[-1] == "gfsvi: interrupted; nothing was written."
    assert "Traceback" not in error
    assert set(os.listdir()) <= {"houses.csv", "model.gfsvi.checkpoint"}


def test_a_killed_prediction_is_absent_or_whole(start, table, regression, houses):
    output = Path("predictions.csv")
    began = time.monotonic()
    assert ended(start("predict", regression, table, "--output", output))[0] == 0
    usual = time.monotonic() - began
    output.unlink()
    for moment in (0.3, 0.8, 0.95):
        process = start("predict", regression, table, "--output", output)
        time.sleep(moment * usual)
        process.kill()
        process.wait()
        assert not output.exists() or is_whole(output, len(houses))
    assert ended(start("predict", regression, table, "--output", output))[0] == 0
    assert is_whole(output, len(houses))
    assert sorted(os.listdir()) == ["houses.csv", "predictions.csv"]


@pytest.mark.slow
def test_predictions_killed_at_thirty_random_moments_are_absent_or_whole(
    start, table, regression, houses
):
    output = Path("predictions.csv")
    for _ in range(30):
        moment = random.uniform(0.1, 3)
        process = start("predict", regression, table, "--output", output)
        time.sleep(moment)
        process.kill()
        process.wait()
        assert not output.exists() or is_whole(output, len(houses)), moment
        output.unlink(missing_ok=True)
    assert ended(start("predict", regression, table, "--output", output))[0] == 0
    assert sorted(os.listdir()) == ["houses.csv", "predictions.csv"]


def test_without_a_home_nothing_is_kept_and_all_else_works(monkeypatch, start, table, regression):
    environment = {n: v for n, v in os.environ.items() if n not in ("HOME", "XDG_CACHE_HOME")}
    environment |= {"HOME": "/nonexistent"}
    environment.pop("GFSVI_CACHE", None)
    words = ("predict", regression, table, "--output", "predictions.csv")
    code, _, error = ended(start(*words, env=environment))
    assert code == 0, error

    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GFSVI_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(RuntimeError):
        cache_home()
    keep_compiled()  # which needs none


@pytest.fixture
def read_only_disk():
    disk = Path("disk")
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only some may mount a disk")
    (disk / "compiled").mkdir()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_read_only_home_is_no_obstacle_but_as_a_place_for_outputs(
    run, start, table, classification, read_only_disk
):
    words = ("predict", classification, table, "--output", "predictions.csv")
    code, _, error = ended(start(*words, env=os.environ | {"GFSVI_CACHE": str(read_only_disk)}))
    assert code == 0 and "Error" not in error, error
    answer = run("predict", classification, table, "--output", read_only_disk / "p.csv")
    refused(answer, about="cannot be written (Read-only file system)")


@pytest.mark.slow
def test_a_damaged_compilation_cache_is_compiled_again(start, table, classification):
    folder = Path("cache").absolute()
    environment = os.environ | {"GFSVI_CACHE": str(folder)}
    words = ("predict", classification, table, "--output", "predictions.csv")
    code, _, error = ended(start(*words, env=environment))
    assert code == 0, error
    expected = Path("predictions.csv").read_bytes()
    programs = sorted((folder / "compiled").glob("*-cache"))
    assert programs
    for number, program in enumerate(programs):
        data = program.read_bytes()
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 255]) + data[middle + 1 :]
        program.write_bytes([b"", b"garbage", data[:middle], flipped][number % 4])
    code, _, error = ended(start(*words, env=environment))
    assert code == 0 and "Traceback" not in error, error
    assert Path("predictions.csv").read_bytes() == expected


@pytest.mark.slow
def test_two_fits_to_one_output_and_one_cache_leave_one_whole_model(start, table):
    environment = os.environ | {"GFSVI_CACHE": str(Path("cache").absolute())}
    words = ("fit", table, *FIT, "--output", "model.gfsvi")
    both = [start(*words, env=environment) for _ in range(2)]
    for process in both:
        code, _, error = ended(process)
        assert code == 0, error
    assert ended(start("predict", "model.gfsvi", table, "--output", "p.csv"))[0] == 0
    shutil.rmtree("cache")
    assert sorted(os.listdir()) == ["houses.csv", "model.gfsvi", "p.csv"]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)], ids=["SIGTERM", "SIGINT"]
)
def test_an_interrupted_benchmark_says_that_it_goes_on_from_there(run, monkeypatch, number, status):
    from gfsvi.cli import bench

    Path("e.toml").write_text(EXPERIMENT)
    monkeypatch.setattr(bench, "run_all", lambda *_, **__: signal.raise_signal(number))
    # What a shell starts in the background ignores SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    code, out, error = run("bench", "run", "e.toml", "--output", "records", "--quiet")
    signal.signal(signal.SIGINT, before)
    assert (code, out) == (status, "")
    assert error == (
        "gfsvi: interrupted; finished runs are kept. Run the same command again: it goes on from "
        "there.\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["run", "tune"])
def test_a_killed_benchmark_ends_with_the_same_records(start, verb):
    Path("e.toml").write_text(EXPERIMENT)

    def words(folder):
        return ("bench", verb, "e.toml", "--output", folder, "--workers", "2", "--quiet")

    code, _, error = ended(start(*words("undisturbed")))
    assert code == 0, error
    for _ in range(4):
        process = start(*words("killed"))
        time.sleep(random.uniform(2, 15))
        process.kill()
        process.wait()
    code, _, error = ended(start(*words("killed")))
    assert code == 0, error

    def results(folder):
        found = Records(folder).read()
        assert all(record["status"] == "ok" for record in found)
        return {record["run"]: record["metrics"]["std_in_gap"] for record in found}

    if verb == "run":
        assert results("killed") == results("undisturbed")
    assert len(results("killed")) >= len(results("undisturbed"))
