"""A small part of `make fuzz`, in a process of its own; and failures that it has found."""

import importlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
KINDS = ("tables", "parameters", "model_files", "experiments", "records", "requests")


def tried(num_inputs: int, *kinds: str) -> dict[str, int]:
    """What became of the inputs of a worker."""
    command = [sys.executable, "-m", "fuzz", "--worker", "--inputs", str(num_inputs)]
    command += ["--seed", "7", *(word for kind in kinds for word in ("--kind", kind))]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_hostile_inputs_are_dealt_with_or_get_one_sentence():
    found = tried(60, *KINDS)
    for kind in KINDS:
        outcomes = [found[f"{kind} {outcome}"] for outcome in ("accepted", "refused")]
        # Else inputs would be all too strange, or all too tame.
        assert min(outcomes) > 0 and sum(outcomes) >= 60


@pytest.mark.slow
def test_hostile_checkpoints_do_not_stop_a_fit():
    assert sum(tried(25, "checkpoints").values()) >= 25


def test_a_failure_is_made_small_told_and_kept(tmp_path):
    for name in ("engine", "__main__", "__init__", "corpus"):
        (tmp_path / "fuzz").mkdir(exist_ok=True)
        text = (ROOT / "fuzz" / f"{name}.py").read_text()
        (tmp_path / "fuzz" / f"{name}.py").write_text(text)
    (tmp_path / "fuzz" / "tables.py").write_text(
        "from hypothesis import strategies as st\n"
        "from fuzz.engine import Kind\n"
        "def check(case):\n"
        "    assert len(case) < 3, 'too long'\n"
        "    return 'accepted'\n"
        "KIND = Kind('tables', st.lists(st.integers()), check)\n"
    )
    command = [sys.executable, "-m", "fuzz", "--kind", "tables", "--inputs", "300", "--seed", "0"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert "too long" in done.stderr and re.search(r"case=\[0, 0, 0\]", done.stderr)
    (kept,) = (tmp_path / "build/fuzz/failures").iterdir()
    assert kept.name == "tables-0.txt" and "case=[0, 0, 0]" in kept.read_text()
    (entry,) = (tmp_path / "build/fuzz/history.jsonl").read_text().splitlines()
    assert json.loads(entry) == {"kind": "tables", "seed": 0, "outcomes": {}, "failed": True}


def test_a_run_that_was_ended_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    program, tried = importlib.import_module("fuzz.__main__"), []

    def one_round(name: str, seed: int, option: str, count: str) -> tuple[Counter[str], str]:
        tried.append((seed, int(count)))
        return Counter({"accepted": int(count)}), ""

    monkeypatch.setattr(program, "one_round", one_round)
    monkeypatch.setattr(program, "HOME", tmp_path)
    counts = tmp_path / "counts.json"
    words = ["fuzz", "--kind", "tables", "--seed", "3", "--output", str(counts), "--total"]
    for total in ("30", "800", "800"):
        monkeypatch.setattr(sys, "argv", [*words, total])
        assert program.main() == 0
    assert tried == [(3, 30), (30003, 500), (31003, 270)]
    known = {"inputs": 800, "accepted": 800, "refused": 0, "failures": 0}
    assert json.loads(counts.read_text()) == {"tables": known}
