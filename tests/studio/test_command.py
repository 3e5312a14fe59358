"""`gfsvi studio` as a process: it prints an address, serves, and ends in order."""

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from gfsvi.cli.main import main
from gfsvi.numerics import extras

TABLE = "x,y\n" + "".join(f"{i},{i % 5}\n" for i in range(20))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def test_it_prints_its_address_serves_the_table_and_ends_on_ctrl_c(table):
    command = [sys.executable, "-m", "gfsvi.cli", "studio", str(table), "--target", "y"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        address = process.stdout.readline().removeprefix("studio: ").strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/", address)
        with urllib.request.urlopen(f"{address}begin") as answer:
            begun = answer.read().decode()
        assert '"name":"table.csv"' in begun and '"chosen":"y"' in begun
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--target", "y"], "--target expects a table"),
        (["none.csv"], "got no file at"),
        (["TABLE", "--target", "z"], "`z`"),
        (["--port", "99999"], "ports end at 65535"),
        (["--port", "-1"], "whole number"),
    ],
)
def test_bad_arguments_get_one_sentence(table, capsys, words, sentence):
    words = [str(table) if word == "TABLE" else word for word in words]
    try:
        status = main(["studio", *words])
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr().err
    assert status == 2 and sentence in said and said.count("\n") == 1


def test_a_port_that_is_taken_is_said(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["studio", "--port", str(port)]) == 2
    assert f"got {port}" in capsys.readouterr().err


def test_a_missing_framework_is_named_before_anything_is_read(monkeypatch, capsys):
    monkeypatch.setitem(extras.EXTRAS, "studio", ("no_such_framework",))
    assert main(["studio", "none.csv"]) == 2
    assert 'pip install "gfsvi[studio]"' in capsys.readouterr().err
