"""Workers on a Ray cluster: data sets are shipped once, and runs of lost nodes are repeated."""

import dataclasses
import os
import threading
from typing import TYPE_CHECKING

from gfsvi import registry
from gfsvi.bench.data.dataset import Loaded
from gfsvi.bench.data.loading import load
from gfsvi.bench.experiment import ExperimentError, Run, Settings
from gfsvi.bench.running.execution import execute, run_from
from gfsvi.bench.running.records import Record
from gfsvi.bench.running.runner import Stopped, Worker
from gfsvi.numerics.extras import check_extra

if TYPE_CHECKING:
    import ray

LOCAL = "local"
MAX_RETRIES = 10


def ray_workers(address: str, task: str) -> list[Worker]:
    """One worker per core of a cluster.

    Args:
        address: Address of the cluster, or "local" for one that ends with this process.
        task: Name of the task that all runs perform.
    """
    connect(address, _variables(task))
    import ray

    num_cores = int(ray.cluster_resources().get("CPU", 0))
    if num_cores < 1:
        raise ExperimentError(
            f"expected a Ray cluster with at least one core at {address}; got none. "
            "Start one with `ray start --head`, or use --workers."
        )
    shipped = _Shipped()
    return [_RayWorker(shipped) for _ in range(num_cores)]


def connect(address: str, variables: dict[str, str]) -> None:
    """Connect to a cluster, whose processes have these environment variables."""
    check_extra("cluster", "--ray")
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    place = {"num_cpus": os.cpu_count()} if address == LOCAL else {"address": address}
    try:
        ray.init(
            **place,
            include_dashboard=False if address == LOCAL else None,
            log_to_driver=False,
            logging_level="ERROR",
            runtime_env={"env_vars": variables},
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise ExperimentError(
            f"expected a Ray cluster at {address}; got the error '{error}'. "
            "Start one with `ray start --head`, or name another address."
        ) from error


def _variables(task: str) -> dict[str, str]:
    """Environment variables as for a local worker: the user's own take precedence."""
    wanted: dict[str, str] = registry.find("tasks", task).variables()
    return {name: os.environ.get(name, value) for name, value in wanted.items()}


class _Shipped:
    """Data sets in the memory of the cluster, each put there once."""

    def __init__(self) -> None:
        self._references: dict[str, ray.ObjectRef[Loaded]] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> "ray.ObjectRef[Loaded]":
        import ray

        with self._lock:
            if name not in self._references:
                self._references[name] = ray.put(load(name))
            return self._references[name]


class _RayWorker:
    """Executes one run at a time somewhere in the cluster."""

    def __init__(self, shipped: _Shipped):
        import ray

        self._shipped = shipped
        self._remote = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(_execute)
        self._pending: ray.ObjectRef[Record] | None = None
        self._closed = False

    def __call__(self, run: Run) -> Record:
        import ray
        from ray.exceptions import RayError

        names = registry.find("tasks", run.task)().datasets(run)
        # Ray fetches only references that are themselves arguments.
        data = [self._shipped[name] for name in names]
        self._pending = pending = self._remote.remote(dataclasses.asdict(run), names, *data)
        try:
            return ray.get(pending)
        except RayError:
            if self._closed:
                raise Stopped from None
            raise

    def close(self) -> None:
        import ray

        self._closed = True
        if self._pending is not None:
            ray.cancel(self._pending, force=True)


def _execute(content: Settings, names: tuple[str, ...], *data: Loaded) -> Record:
    from gfsvi.numerics.process import keep_compiled

    keep_compiled()
    found = dict(zip(names, data, strict=True))
    return execute(run_from(content), found.__getitem__)
