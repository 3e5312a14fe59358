"""Records are complete or absent, with several writers and killed ones."""

import json
import subprocess
import sys
import time
from typing import Any

import pytest

from gfsvi.bench.experiment import ExperimentError
from gfsvi.bench.running.records import Records
from gfsvi.storage.files import WriteError


def record(number: int) -> Any:
    return {"run": f"run {number}", "status": "ok", "metrics": {"mse": number / 7}}


def append_many(folder, first: int) -> None:
    for number in range(first, first + 100):
        Records(folder).append(record(number))


def hold(folder) -> None:
    with Records(folder).claim("run 1") as ours:
        print(ours, flush=True)
        time.sleep(60)


def in_another_process(*words) -> Any:
    """Run this file as a script with these arguments."""
    command = [sys.executable, __file__, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_appended_records_are_read(tmp_path):
    records = Records(tmp_path)
    assert records.read() == []
    records.append(record(1))
    records.append(record(2))
    assert records.read() == [record(1), record(2)]


def test_the_last_record_of_a_repeated_run_counts(tmp_path):
    records = Records(tmp_path)
    records.append(record(1) | {"status": "failed"})
    records.append(record(2))
    records.append(record(1))
    assert records.read() == [record(2), record(1)]


def test_forgotten_runs_have_no_record_and_others_keep_theirs(tmp_path):
    records = Records(tmp_path)
    for number in (1, 2, 3, 1):
        records.append(record(number))
    records.forget({"run 1", "run 9"})
    assert records.read() == [record(2), record(3)]
    records.append(record(1))
    assert records.read() == [record(2), record(3), record(1)]


@pytest.mark.parametrize("length", [1, 30, 200_000])
def test_an_incomplete_line_of_a_killed_writer_is_skipped_and_then_removed(tmp_path, length):
    records = Records(tmp_path)
    records.append(record(1))
    with records.path.open("ab") as file:
        file.write((json.dumps(record(2)) * 5000).encode()[:length])
    assert records.read() == [record(1)]
    records.append(record(3))
    assert records.read() == [record(1), record(3)]
    assert len(records.path.read_text().splitlines()) == 2


def test_a_line_that_is_not_a_record_raises(tmp_path):
    Records(tmp_path).append(record(1))
    (tmp_path / "records.jsonl").write_text("[]\n")
    with pytest.raises(ExperimentError, match="expected a record in line 1 of"):
        Records(tmp_path).read()


def test_non_finite_numbers_raise_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        Records(tmp_path).append(record(1) | {"metrics": {"mse": float("nan")}})
    assert Records(tmp_path).read() == []


def test_lines_of_two_processes_do_not_interleave(tmp_path):
    for writer in [in_another_process("append", tmp_path, first) for first in (0, 100)]:
        assert writer.communicate() == ("", None) and writer.returncode == 0
    assert sorted(r["metrics"]["mse"] for r in Records(tmp_path).read()) == [
        number / 7 for number in range(200)
    ]


def test_a_full_disk_is_said_in_one_sentence_and_costs_one_record(tmp_path):
    resource = pytest.importorskip("resource")
    Records(tmp_path).append(record(1))
    size, before = (
        len(Records(tmp_path).path.read_bytes()),
        resource.getrlimit(resource.RLIMIT_FSIZE),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))  # as good as a full disk
    try:
        with pytest.raises(
            WriteError, match="cannot be written: File too large. Check that .* room"
        ):
            Records(tmp_path).append(record(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert Records(tmp_path).read() == [record(1)]
    Records(tmp_path).append(record(2))
    assert Records(tmp_path).path.read_text().count("\n") == 2
    assert Records(tmp_path).read() == [record(1), record(2)]


def test_a_claimed_run_is_released_when_its_process_is_killed(tmp_path):
    with in_another_process("hold", tmp_path) as process:
        assert process.stdout.readline() == "True\n"
        with Records(tmp_path).claim("run 1") as claimed:
            assert claimed is False
        with Records(tmp_path).claim("run 2") as claimed:
            assert claimed is True
        process.kill()
    with Records(tmp_path).claim("run 1") as claimed:
        assert claimed is True


if __name__ == "__main__":
    if sys.argv[1] == "append":
        append_many(sys.argv[2], int(sys.argv[3]))
    else:
        hold(sys.argv[2])
