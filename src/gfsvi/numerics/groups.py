"""Processes that fit one model together: each reads its own share, and sums are added up.

All results are the same in every process, because sums are added in one order, whatever the number
of processes: a binary tree over `LANES` shares of the rows.
"""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

LANES = 8
"""Shares that rows are divided into, each of which belongs to one process."""
STARTING_SECONDS, SILENT_SECONDS = 120, 30
"""How long processes wait for each other at the beginning, and for a sign of life later on."""

S = TypeVar("S")


class LostProcessError(RuntimeError):
    """Another process of the same fit has ended."""


class Group(Protocol):
    """The processes of a fit; `rank` is the number of this one."""

    @property
    def size(self) -> int:
        """The number of processes."""
        ...

    @property
    def rank(self) -> int:
        """The number of this process, from 0."""
        ...

    def gathered(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all processes, which have one shape and type, along a new first axis."""
        ...


class Alone:
    """A process that does not share its work."""

    size, rank = 1, 0

    def gathered(self, array: np.ndarray) -> np.ndarray:
        """The array, along a new first axis."""
        return array[None]


class JaxProcesses:
    """Processes of JAX's distributed runtime.

    Args:
        coordinator: Address and port of process 0.
        size: The number of processes.
        rank: The number of this one.
    """

    def __init__(self, coordinator: str, size: int, rank: int):
        import jax
        from jax.sharding import Mesh, NamedSharding, PartitionSpec

        jax.config.update("jax_cpu_collectives_implementation", "gloo")
        try:
            jax.distributed.initialize(
                coordinator,
                size,
                rank,
                coordinator_bind_address=coordinator,  # else it listens at every address
                initialization_timeout=STARTING_SECONDS,
                heartbeat_timeout_seconds=SILENT_SECONDS,
            )
            devices = [next(d for d in jax.devices() if d.process_index == p) for p in range(size)]
        except (RuntimeError, ValueError) as error:
            raise LostProcessError(
                f"expected {size} processes to meet at {coordinator}; got the error "
                f"'{' '.join(str(error).split())[:120]}'. Start all of them with the same "
                "coordinator and different numbers."
            ) from error
        self.size, self.rank = size, rank
        mesh = Mesh(np.array(devices), ("process",))
        self._split = NamedSharding(mesh, PartitionSpec("process"))
        self._device = devices[rank]
        self._whole = jax.jit(lambda x: x, out_shardings=NamedSharding(mesh, PartitionSpec()))

    def gathered(self, array: np.ndarray) -> np.ndarray:
        """The arrays of all processes along a new first axis, bit for bit."""
        import jax

        array = np.ascontiguousarray(array)
        words = np.frombuffer(array.tobytes(), np.uint8)
        padded = np.concatenate([words, np.zeros(-len(words) % 4, np.uint8)]).view(np.uint32)
        mine = [jax.device_put(padded[None], self._device)]
        shape = (self.size, len(padded))
        try:
            shared = jax.make_array_from_single_device_arrays(shape, self._split, mine)
            found = np.asarray(self._whole(shared))
        except (RuntimeError, ValueError) as error:  # what XLA raises when a connection ends
            raise LostProcessError(
                f"process {self.rank} has lost another process of this fit. Run the same command "
                "again: it goes on from the checkpoint."
            ) from error
        rows = [row.view(np.uint8)[: len(words)].view(array.dtype) for row in found]
        return np.stack([row.reshape(array.shape) for row in rows])


def check_size(size: int) -> None:
    """Raise unless this many processes can share the lanes evenly."""
    if size < 1 or LANES % size:
        possible = [n for n in range(1, LANES + 1) if LANES % n == 0]
        raise ValueError(
            f"expected {', '.join(map(str, possible[:-1]))} or {possible[-1]} processes, which "
            f"divide the {LANES} shares of the rows evenly; got {size}."
        )


def own_lanes(group: Group) -> range:
    """The lanes of this process."""
    each = LANES // group.size
    return range(group.rank * each, (group.rank + 1) * each)


def total(group: Group, of_lanes: Sequence[S]) -> S:
    """The sum over all lanes, given those of this process, as a binary tree.

    What is added is an array, or a tuple of arrays with `+`.
    """
    own: Any = tree_sum(of_lanes)
    if group.size == 1:
        return own
    if isinstance(own, np.ndarray):
        return tree_sum(list(group.gathered(own)))
    parts = [group.gathered(np.asarray(part)) for part in own]
    return tree_sum([type(own)(*one) for one in zip(*parts, strict=True)])


def tree_sum(parts: Sequence[S]) -> S:
    """The sum of neighbours, and of these sums, until one is left."""
    parts = list(parts)
    while len(parts) > 1:
        pairs: list[list[Any]] = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [functools.reduce(operator.add, pair) for pair in pairs]
    return parts[0]


def gathered_bytes(group: Group, content: bytes) -> list[bytes]:
    """The bytes of every process, which may differ in length."""
    sizes = group.gathered(np.array([len(content)]))[:, 0]
    padded = np.zeros(max(1, int(sizes.max())), np.uint8)
    padded[: len(content)] = np.frombuffer(content, np.uint8)
    return [row[:size].tobytes() for row, size in zip(group.gathered(padded), sizes, strict=True)]


def of_first(group: Group, content: Callable[[], bytes]) -> bytes:
    """What process 0 computes, in all processes."""
    return gathered_bytes(group, content() if group.rank == 0 else b"")[0]


def anyone(group: Group, flag: bool) -> bool:
    """Whether the flag is set in any process."""
    return bool(group.gathered(np.array([flag])).any())
