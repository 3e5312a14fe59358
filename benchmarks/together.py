"""One fit by one process, by two, after being killed, and on a local Ray cluster.

python -m benchmarks.together [--rows 1000000] [--threads 1] [--kills 5]
    [--output results/together.json]

A made table of flights is fitted by `gfsvi fit` with one process, with two of as many threads each,
with two that are killed at random moments and started again until the fit ends, and by two
processes on a Ray cluster of two nodes on this machine. `difference` is the largest of the means
and standard deviations that two models predict, relative to the standard deviations. At last one
of two processes is killed, and `seconds_until_all_end` and what was said are recorded.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.made_rows import write_flights

LIMIT = 100
"""Starts of a fit that is killed again and again."""


class Fits:
    """Fits of one table, in a folder.

    Args:
        folder: The folder.
        num_rows: Rows of the table.
        threads: Threads of each process.
    """

    def __init__(self, folder: Path, num_rows: int, threads: int):
        self.folder, self._threads = folder, threads
        self._table = folder / "flights.parquet"
        write_flights(self._table, num_rows)

    def begun(self, name: str, *options: str) -> subprocess.Popen:
        """Start a fit, whose output goes to a pipe."""
        words = ["fit", str(self._table), "--target", "delay", "--hold-out", "random", "--stream"]
        threads = {f"{n}_NUM_THREADS": str(self._threads) for n in ("OMP", "OPENBLAS", "MKL")}
        return subprocess.Popen(
            [sys.executable, "-m", "gfsvi.cli", *words, "-o", str(self.model(name)), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | threads,
        )

    def model(self, name: str) -> Path:
        """The file of a model."""
        return self.folder / f"{name}.gfsvi"

    def seconds(self, name: str, *options: str) -> float:
        """How long a fit takes."""
        began = time.monotonic()
        process = self.begun(name, *options)
        said = process.communicate()[0]
        if process.returncode:
            raise RuntimeError(f"the fit {name} ended with {process.returncode}: {said[-2000:]}")
        return time.monotonic() - began

    def killed(self, name: str, times: int, within: float, *options: str) -> int:
        """Fit, killed at random moments; how many kills there were before the fit ended."""
        chosen, kills = random.Random(0), 0
        for _ in range(LIMIT):
            process = self.begun(name, *options)
            if kills == times:
                process.communicate()
                return kills
            # What a fit has come to counts, so that the next one ends sooner.
            time.sleep(chosen.uniform(0.1, 0.5) * within)
            if process.poll() is not None:
                return kills
            process.kill()
            process.communicate()
            kills += 1
        return kills

    def lost(self, name: str) -> dict[str, Any]:
        """End one of two processes, and see how long the others take to end."""
        process = self.begun(name, "--processes", "2")
        while not Path(f"{self.model(name)}.checkpoint").exists() and process.poll() is None:
            time.sleep(0.1)
        path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        os.kill(int(path.read_text().split()[1]), 9)
        began = time.monotonic()
        said = process.communicate()[0]
        return {
            "seconds_until_all_end": time.monotonic() - began,
            "status": process.returncode,
            "said": said.strip().splitlines()[-1],
        }

    def difference(self, name: str, other: str) -> float:
        """The largest difference between two models, in standard deviations."""
        rows = _new_rows(self._table)
        one, two = (self._predicted(n, rows) for n in (name, other))
        pairs = [(one.mean, two.mean), (one.std, two.std)]
        return max(float(np.max(np.abs(a - b) / np.asarray(one.std))) for a, b in pairs)

    def _predicted(self, name: str, rows: Any) -> Any:
        from gfsvi.auto import Fitted

        return Fitted.load(self.model(name)).predict(rows)


def _new_rows(table: Path) -> Any:
    import pandas

    return pandas.read_parquet(table)[:2000]


def on_cluster(fits: Fits) -> float:
    """Seconds of a fit on a cluster of two nodes on this machine."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        cluster.add_node(num_cpus=1)
        return fits.seconds("cluster", "--ray", str(cluster.address), "--processes", "2")
    finally:
        cluster.shutdown()


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1, help="of each process")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path, default=Path("results/together.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        fits = Fits(Path(name), arguments.rows, arguments.threads)
        found: dict[str, Any] = {"load": os.getloadavg()[0], "rows": arguments.rows}
        found["seconds"] = {"one": fits.seconds("one")}
        two = found["seconds"]["two"] = fits.seconds("two", "--processes", "2")
        found["speed_up"] = found["seconds"]["one"] / two
        found["kills"] = fits.killed("killed", arguments.kills, two, "--processes", "2")
        found["seconds"]["cluster"] = on_cluster(fits)
        found["lost"] = fits.lost("lost")
        found["difference"] = {n: fits.difference("one", n) for n in ("two", "killed", "cluster")}
    arguments.output.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
