"""The devices of this process, among which rows are divided."""

from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

T = TypeVar("T")
ROWS = "rows"
"""The axis of a mesh along which rows are divided."""


def mesh_of_process() -> Mesh | None:
    """The devices of this process; None for a single processor, where NumPy computes."""
    devices = jax.local_devices()
    if len(devices) == 1 and devices[0].platform == "cpu":
        return None
    return mesh_of(devices)


def mesh_of(devices: Sequence[Any]) -> Mesh:
    """A mesh along which rows are divided."""
    return Mesh(np.array(devices), (ROWS,))


def rows_divided(batch: T) -> T:
    """Rows divided among the devices of this process, in a compiled program.

    Rows that these cannot share evenly stay together.
    """
    mesh = mesh_of_process()
    leaves = jax.tree.leaves(batch)
    if mesh is None or any(len(leaf) % mesh.size for leaf in leaves):
        return batch
    return jax.lax.with_sharding_constraint(batch, NamedSharding(mesh, PartitionSpec(ROWS)))
