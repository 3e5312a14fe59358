"""Processes of one fit that a Ray cluster places and starts."""

import math
import os
from collections.abc import Sequence
from typing import Any

from gfsvi.bench.running.ray_cluster import connect
from gfsvi.cli.processes import commands, free_port
from gfsvi.cli.watching import Line, LocalProcess
from gfsvi.numerics.groups import LANES, check_size

STARTING_SECONDS = 120
"""How long the cluster has to find room for all processes."""
SILENT_SECONDS = 30
"""How long a machine of the cluster may say nothing."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Environment variables that processes have from the command; Ray sets the first one otherwise."""
GONE = 1
"""The status of a process whose machine is lost."""


class _Place:
    """A place in the cluster where a process of the fit runs; Ray makes an actor of it."""

    def __init__(self) -> None:
        self._process: LocalProcess | None = None

    def address(self) -> str:
        """An address of this machine that other machines reach, and a free port."""
        import ray

        host = ray.util.get_node_ip_address()
        return f"{host}:{free_port(host)}"

    def start(self, words: Sequence[str], folder: str) -> None:
        """Start a command in a folder."""
        if not os.path.isdir(folder):
            raise ValueError(
                f"expected the folder {folder} on every machine of the cluster, got one without "
                "it; run the command in a folder that all of them share."
            )
        self._process = LocalProcess(words, folder)

    def looked_at(self) -> tuple[int | None, list[Line]]:
        """The status of the process once it has ended, and what it has written."""
        if self._process is None:
            return None, []
        return self._process.poll(), self._process.lines()

    def kill(self) -> list[Line]:
        """End the process, and tell what it has written since the last look."""
        if self._process is None:
            return []
        self._process.kill()
        return self._process.lines()


class RayProcess:
    """A process of the fit somewhere in the cluster.

    Args:
        place: The handle of an actor of `_Place`.
    """

    def __init__(self, place: Any):
        self._place = place
        self._lines: list[Line] = []

    def poll(self) -> int | None:
        """Its status once it has ended."""
        import ray
        from ray.exceptions import RayError

        try:
            status, lines = ray.get(self._place.looked_at.remote(), timeout=SILENT_SECONDS)
        except RayError:
            return GONE
        self._lines += lines
        return status

    def lines(self) -> list[Line]:
        """What it has written since the last call."""
        found, self._lines = self._lines, []
        return found

    def kill(self) -> None:
        """End it, and remove its temporary files."""
        import ray
        from ray.exceptions import RayError

        try:
            self._lines += ray.get(self._place.kill.remote(), timeout=SILENT_SECONDS)
        except RayError:
            return  # with its machine, or by itself as soon as it reads from the actor
        finally:
            ray.kill(self._place)


def shares(cores: Sequence[int], size: int | None) -> tuple[int, int]:
    """The number of processes, and the cores of each.

    Args:
        cores: The cores of each machine.
        size: The number of processes that is asked for; None for one per machine, as far as these
            share evenly.
    """
    cores = [count for count in cores if count] or [1]
    if size is None:
        size = max(n for n in range(1, LANES + 1) if n <= len(cores) and LANES % n == 0)
    check_size(size)
    return size, max(1, min(cores) // math.ceil(size / len(cores)))


def processes_on(address: str, size: int | None, words: Sequence[str]) -> list[RayProcess]:
    """Start processes that fit one model, spread over the machines of a cluster.

    Args:
        address: Address of the cluster, or "local" for one that ends with this process.
        size: The number of processes; None for one per machine, as far as these share evenly.
        words: The command of all of them.
    """
    connect(address, {name: os.environ[name] for name in THREADS if name in os.environ})
    import ray
    from ray.exceptions import RayError

    cores = [int(n["Resources"].get("CPU", 0)) for n in ray.nodes() if n["Alive"]]
    size, each = shares(cores, size)
    options = {"num_cpus": each, "max_concurrency": 4, "scheduling_strategy": "SPREAD"}
    # The stubs of Ray do not know the methods of an actor of options.
    places: list[Any] = [ray.remote(_Place).options(**options).remote() for _ in range(size)]
    try:
        coordinator, *_ = ray.get([p.address.remote() for p in places], timeout=STARTING_SECONDS)
    except RayError as error:
        for place in places:
            ray.kill(place)
        raise ValueError(
            f"expected room for {size} processes of {each} cores in the cluster at {address}, got "
            f"none within {STARTING_SECONDS} s; add machines, or ask for fewer processes."
        ) from error
    pairs = zip(places, commands(words, coordinator, size), strict=True)
    started = [place.start.remote(one, os.getcwd()) for place, one in pairs]
    processes = [RayProcess(place) for place in places]
    try:
        ray.get(started, timeout=STARTING_SECONDS)
    except RayError as error:
        for process in processes:
            process.kill()
        raise ValueError(str(getattr(error, "cause", None) or error)) from error
    return processes
