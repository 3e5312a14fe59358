"""Several processes fit the model that one does, and end together."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gfsvi.cli import main

WORK = """
import os, sys
import numpy as np
from gfsvi.numerics.groups import JaxProcesses, LostProcessError, gathered_bytes, total
rank = int(sys.argv[1])
group = JaxProcesses(sys.argv[2], 2, rank)
values = np.arange(5) + rank * 0.1
assert np.array_equal(group.gathered(values), [np.arange(5), np.arange(5) + 0.1])
assert gathered_bytes(group, b"a" * (rank + 3)) == [b"aaa", b"aaaa"]
assert total(group, [values]).tolist() == (2 * np.arange(5) + 0.1).tolist()
if rank == 1:
    os._exit(0)
try:
    while True:
        group.gathered(values)
except LostProcessError as error:
    print(error, flush=True)
    os._exit(0)
"""


def test_two_processes_exchange_arrays_and_notice_when_one_is_lost():
    from gfsvi.cli.processes import free_port

    address = f"127.0.0.1:{free_port('127.0.0.1')}"

    def run(rank: int) -> subprocess.CompletedProcess:
        words = [sys.executable, "-c", WORK, str(rank), address]
        return subprocess.run(words, capture_output=True, text=True, timeout=600, env=os.environ)

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert "has lost another process of this fit" in first.stdout


@pytest.mark.parametrize(
    ("options", "about"),
    [
        (["--processes", "3"], "got 3"),
        (["--coordinator", "127.0.0.1:1"], "expect each other"),
        (["--processes", "2", "--time-budget", "9"], "no --time-budget"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(tmp_path, capsys, options, about):
    path = tmp_path / "table.csv"
    np.savetxt(path, np.arange(60.0).reshape(30, 2), delimiter=",", header="x,y", comments="")
    words = ["fit", str(path), "-t", "y", "-o", str(tmp_path / "model.gfsvi")]
    assert main([*words, *options]) == 2
    assert about in capsys.readouterr().err
