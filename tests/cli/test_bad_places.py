"""Places where nothing can be written are refused before any work is done."""

import os
import subprocess
from pathlib import Path

import pytest

from .test_bad_tables import GOOD, csv, fit, refused


@pytest.fixture
def good() -> Path:
    Path("table.csv").write_bytes(csv(GOOD))
    return Path("table.csv")


@pytest.mark.parametrize("option", ["--output", "--report"])
@pytest.mark.parametrize(
    ("place", "about"),
    [
        ("folder", "got 'folder', a folder. Name another."),
        ("no/such/model", "got 'no/such/model', whose folder does not exist. Name another."),
        ("table.csv/model", "whose folder does not exist"),
        ("", "got '', which is empty"),
        ("a\0b", "which contains a null character"),
        ("x" * 300, "cannot be written (File name too long)"),
        ("/dev/full", "got '/dev/full', a pipe or device"),
        ("link", "got 'link', a pipe or device"),
        ("/proc/model", "cannot be written (No such file or directory)"),
        ("./table.csv", "got './table.csv', the table itself"),
        ("pointer", "got 'pointer', the table itself"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(run, good, option, place, about):
    os.mkdir("folder")
    os.symlink("/dev/full", "link")
    os.symlink("table.csv", "pointer")
    before, content = sorted(os.listdir()), good.read_bytes()
    wanted = {"--output": "model.gfsvi", "--report": "page.html"} | {option: place}
    words = [word for pair in wanted.items() for word in pair]
    refused(run("fit", good, "--target", "y", *words), about=f"{option} expects the name of a file")
    refused(run("fit", good, "--target", "y", *words), about=about)
    assert sorted(os.listdir()) == before
    assert good.read_bytes() == content


def test_model_and_page_are_two_files(run, good):
    answer = run(*fit(good, "--report", "model.gfsvi"))
    refused(answer, about="got 'model.gfsvi', the file of --output as well")


@pytest.mark.parametrize("place", ["table.csv", "model.gfsvi"])
def test_predictions_do_not_replace_what_they_are_made_from(run, good, place):
    Path("model.gfsvi").write_bytes(b"precious")
    before = Path(place).read_bytes()
    answer = run("predict", "model.gfsvi", good, "--output", place)
    refused(answer, about="itself. Name another.")
    assert Path(place).read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_of_somebody_else(run, good):
    os.mkdir("folder", mode=0o555)
    answer = run(*fit(good, output="folder/model"))
    refused(answer, about="cannot be written (Permission denied)")


def test_a_full_disk_leaves_no_predictions(start, table, regression):
    process = start("predict", regression, table, "--output", "predictions.csv", largest_file=1)
    out, error = process.communicate()
    refused((process.returncode, out, error), about="File too large")
    assert os.listdir() == ["houses.csv"]


@pytest.mark.slow
def test_a_full_disk_leaves_no_model(start, table):
    process = start(*fit(table, "--quiet", target="price"), largest_file=8)
    out, error = process.communicate()
    refused((process.returncode, out, error), about="File too large")
    assert os.listdir() == ["houses.csv"]


@pytest.fixture
def small_disk():
    disk = Path("disk")
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("only some may mount a disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_really_full_leaves_no_predictions(run, table, regression, small_disk):
    output = small_disk / "predictions.csv"
    Path(small_disk / "ballast").write_bytes(bytes(16_000))
    refused(run("predict", regression, table, "--output", output), about="No space left on device")
    assert os.listdir(small_disk) == ["ballast"]
