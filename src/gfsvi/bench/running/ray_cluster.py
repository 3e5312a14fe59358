"""Workers on a Ray cluster: data sets are shipped once, and what a lost node had is made again."""

import dataclasses
import os
import threading
from typing import Any

from gfsvi import registry
from gfsvi.bench.data.loading import load
from gfsvi.bench.experiment import ExperimentError, Run
from gfsvi.bench.running.execution import execute, run_from
from gfsvi.bench.running.records import Record
from gfsvi.bench.running.runner import Stopped, Worker

LOCAL = "local"
MAX_RETRIES = 10


def ray_workers(address: str, task: str) -> list[Worker]:
    """A worker for every core of a cluster.

    Args:
        address: Of the cluster, or "local" for one on this machine that ends with this process.
        task: Name of the task of all runs.
    """
    ray = _connected(address, _variables(task))
    num_cores = int(ray.cluster_resources().get("CPU", 0))
    if num_cores < 1:
        raise ExperimentError(
            f"expected a Ray cluster with at least one core at {address}; got none. "
            "Start one with `ray start --head`, or use --workers."
        )
    shipped = _Shipped(ray)
    return [_RayWorker(ray, shipped) for _ in range(num_cores)]


def _connected(address: str, variables: dict[str, str]) -> Any:
    try:
        import ray
    except ModuleNotFoundError as error:
        raise ExperimentError(
            "expected Ray for --ray; it is not installed. Install gfsvi[cluster], or use --workers."
        ) from error
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
    return ray


def _variables(task: str) -> dict[str, str]:
    """As a worker on this machine has them: the user's own settings come first."""
    wanted: dict[str, str] = registry.find("tasks", task).variables()
    return {name: os.environ.get(name, value) for name, value in wanted.items()}


class _Shipped:
    """Data sets in the cluster's memory, each put there once."""

    def __init__(self, ray: Any):
        self._ray = ray
        self._references: dict[str, Any] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> Any:
        with self._lock:
            if name not in self._references:
                self._references[name] = self._ray.put(load(name))
            return self._references[name]


class _RayWorker:
    """Executes a run at a time somewhere in the cluster."""

    def __init__(self, ray: Any, shipped: _Shipped):
        self._ray, self._shipped = ray, shipped
        self._remote = ray.remote(num_cpus=1, max_retries=MAX_RETRIES)(_execute)
        self._pending: Any = None
        self._closed = False

    def __call__(self, run: Run) -> Record:
        from gfsvi import registry

        names = registry.find("tasks", run.task)().datasets(run)
        # Only references that are arguments themselves are fetched before the run.
        data = [self._shipped[name] for name in names]
        self._pending = self._remote.remote(dataclasses.asdict(run), names, *data)
        try:
            return self._ray.get(self._pending)
        except self._ray.exceptions.RayError:
            if self._closed:
                raise Stopped from None
            raise

    def close(self) -> None:
        self._closed = True
        if self._pending is not None:
            self._ray.cancel(self._pending, force=True)


def _execute(content: dict[str, Any], names: tuple[str, ...], *data: Any) -> Record:
    from gfsvi.numerics.process import keep_compiled

    keep_compiled()
    found = dict(zip(names, data, strict=True))
    return execute(run_from(content), found.__getitem__)
