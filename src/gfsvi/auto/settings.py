"""What follows from the size of a table, or of a set of images, when nobody says otherwise."""

import dataclasses
import math
from typing import Any

from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.networks.mlp import MLP
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.settings import Training

MAX_FIXED_ROWS = 400
"""Up to here every training row is a measurement point: a thousand points take seconds a step."""


MAX_STRETCH = 4
"""More rows than a batch has take more steps, but not without end."""


@dataclasses.dataclass(frozen=True)
class Settings:
    """Sizes of a fit; every one is reported. None stands for what the method brings itself."""

    method: str
    num_rows: int
    num_validation_rows: int
    num_features: int
    hidden: tuple[int, ...]
    num_points: int | None
    gamma: float | None
    num_mean_steps: int | None
    num_steps: int | None
    batch_size: int
    seed: int
    image_shape: tuple[int, ...] | None = None

    @classmethod
    def derive(
        cls,
        method: AbstractMethod,
        num_rows: int,
        num_validation_rows: int,
        shape: tuple[int, ...],
        num_outputs: int,
        seed: int,
        **given: Any,
    ) -> "Settings":
        """Settings for so many rows of this shape; what is `given` and not None is kept."""
        derived: dict[str, Any] = {
            "hidden": _hidden(method, num_rows),
            "batch_size": 2000,
            **dict.fromkeys(("num_points", "gamma", "num_mean_steps", "num_steps")),
        }
        if len(shape) > 1:
            derived |= _for_images(num_rows, isinstance(method, GFSVI), given)
        elif isinstance(method, GFSVI):
            # Each output has a Cholesky factor of its own.
            most = max(100, round(MAX_FIXED_ROWS / num_outputs**0.5))
            derived["num_points"] = min(num_rows, most) + max(20, most // 6)
            batch_size = given.get("batch_size") or derived["batch_size"]
            num_mean, num = (
                dataclasses.replace(training, batch_size=batch_size).for_rows(num_rows).num_steps
                for training in (GFSVI().warm_up, Training(100, MAX_STRETCH))
            )
            derived |= {"gamma": 1e-10, "num_mean_steps": num_mean, "num_steps": num}
        chosen = derived | {name: value for name, value in given.items() if value is not None}
        name = type(method).__name__
        if len(shape) > 1:
            chosen["image_shape"] = shape
        return cls(name, num_rows, num_validation_rows, math.prod(shape), seed=seed, **chosen)

    @property
    def points(self) -> AbstractPoints | None:
        """One in seven is uniform in a box, the others are training rows: all of few."""
        if self.num_points is None:
            return None
        if self.image_shape is not None:  # half and half, as in the paper
            num_box = self.num_points // 2
            return Mixture((BatchRows(self.num_points - num_box), UniformBox(num_box)))
        num_box = max(1, self.num_points // 7)
        num_from_rows = max(1, self.num_points - num_box)
        if num_from_rows >= self.num_rows:
            return Mixture((FixedPoints(), UniformBox(num_box)))
        return Mixture((BatchRows(num_from_rows), UniformBox(num_box)))


def _for_images(num_rows: int, is_gfsvi: bool, given: dict[str, Any]) -> dict[str, Any]:
    """Small batches, as the paper has them, and a dozen passes over the images."""
    batch_size = given.get("batch_size") or 100
    num_steps = min(max(600, 12 * num_rows // batch_size), 6000)
    sizes: dict[str, Any] = {"batch_size": batch_size, "num_steps": num_steps}
    if is_gfsvi:  # most of them for the mean alone
        few = {"num_points": 25, "gamma": 1e-10, "num_steps": max(200, num_steps // 5)}
        sizes |= {"num_mean_steps": num_steps, **few}
    return sizes


def _hidden(method: AbstractMethod, num_rows: int) -> tuple[int, ...]:
    network = getattr(method, "network", None)
    if isinstance(network, MLP) and network.hidden != MLP().hidden:
        return network.hidden
    return (100, 100) if num_rows < 10_000 else (200, 200)
