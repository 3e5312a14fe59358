"""Sizes of a fit, derived from the data where the user gives none."""

import dataclasses
import math
from typing import TypedDict, Unpack

from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.measurement import MAX_ROWS_AS_POINTS, points_among_images
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.networks.mlp import MLP
from gfsvi.points import AbstractPoints, BatchRows, FixedPoints, Mixture, UniformBox
from gfsvi.training.optimizers import AbstractOptimizer, Adam, FullBatchUpTo, Optax
from gfsvi.training.settings import Training

BATCH_SIZE, IMAGE_BATCH_SIZE = 2000, 100
STREAMED_POINTS = 400


class Sizes(TypedDict, total=False):
    """Sizes that a user may give; those left out, or None, follow from the data."""

    hidden: tuple[int, ...] | None
    num_points: int | None
    gamma: float | None
    num_mean_steps: int | None
    num_steps: int | None
    batch_size: int | None
    image_shape: tuple[int, ...] | None


@dataclasses.dataclass(frozen=True)
class Settings:
    """The sizes of a fit; None means the method's own."""

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
        **given: Unpack[Sizes],
    ) -> "Settings":
        """Settings for this many rows of this shape, with the sizes that are given."""
        derived = Sizes(
            hidden=_hidden(method, num_rows),
            num_points=None,
            gamma=None,
            num_mean_steps=None,
            num_steps=None,
            batch_size=BATCH_SIZE,
        )
        if len(shape) > 1:
            derived |= _for_images(method, num_rows, given.get("batch_size") or IMAGE_BATCH_SIZE)
            derived["image_shape"] = shape
        elif isinstance(method, GFSVI):
            batch_size = given.get("batch_size") or BATCH_SIZE
            derived |= _for_tables(method, num_rows, num_outputs, batch_size)
            if isinstance(method.covariance, ClosedForm):
                derived |= _for_closed_form(method.covariance, num_rows, num_outputs)
        if isinstance(method, GFSVI) and isinstance(method.covariance, ClosedForm):
            # there are steps of the mean alone
            given["num_mean_steps"] = given.pop("num_steps", None)
        sizes = derived | {name: value for name, value in given.items() if value is not None}
        name = type(method).__name__
        return cls(name, num_rows, num_validation_rows, math.prod(shape), seed=seed, **sizes)

    @property
    def points(self) -> AbstractPoints | None:
        """Training rows, all of them if there are few, and one point in seven uniform in a box."""
        if self.num_points is None:
            return None
        if self.image_shape is not None:
            return points_among_images(self.num_points)
        num_from_rows, num_box = divided(self.num_points)
        rows = FixedPoints() if num_from_rows >= self.num_rows else BatchRows(num_from_rows)
        return Mixture((rows, UniformBox(num_box)))


def streamed_points(num_outputs: int) -> int:
    """Measurement points for rows that are read from a stream, where each costs time per row."""
    return max(100, round(STREAMED_POINTS / num_outputs**0.5))


def divided(num_points: int) -> tuple[int, int]:
    """The measurement points that are training rows, and one in seven that is in a box."""
    num_box = max(1, num_points // 7)
    return max(1, num_points - num_box), num_box


def with_batch_size(training: Training, batch_size: int) -> Training:
    """The training with this many rows per step, if its optimiser uses batches."""
    return dataclasses.replace(training, optimizer=_batched(training.optimizer, batch_size))


def _batched(optimizer: AbstractOptimizer, batch_size: int) -> AbstractOptimizer:
    if isinstance(optimizer, FullBatchUpTo):
        inner = dataclasses.replace(optimizer.otherwise, batch_size=batch_size)
        return dataclasses.replace(optimizer, otherwise=inner)
    if isinstance(optimizer, Adam | Optax):
        return dataclasses.replace(optimizer, batch_size=batch_size)
    return optimizer


def _for_tables(method: GFSVI, num_rows: int, num_outputs: int, batch_size: int) -> Sizes:
    # Each output needs a Cholesky factor.
    most = max(100, round(MAX_ROWS_AS_POINTS / num_outputs**0.5))
    mean = method.mean.otherwise if isinstance(method.mean, AutoMean) else method.mean
    trainings = (getattr(mean, "training", None), method.training)
    num_mean, num = (
        None if t is None else with_batch_size(t, batch_size).for_rows(num_rows).num_steps
        for t in trainings
    )
    sizes = Sizes(gamma=method.gamma, num_mean_steps=num_mean, num_steps=num)
    if method.points is None:
        sizes["num_points"] = min(num_rows, most) + max(20, most // 6)
    return sizes


def _for_closed_form(family: ClosedForm, num_rows: int, num_outputs: int) -> Sizes:
    rows = min(num_rows, family.rows_as_points(num_outputs))
    return Sizes(num_points=rows + max(20, rows // 6), num_steps=None, num_mean_steps=None)


def _for_images(method: AbstractMethod, num_rows: int, batch_size: int) -> Sizes:
    """Small batches, as in the paper, and a dozen passes over the images."""
    num_steps = min(max(600, 12 * num_rows // batch_size), 6000)
    sizes = Sizes(batch_size=batch_size, num_steps=num_steps)
    if isinstance(method, GFSVI):
        sizes["gamma"] = method.gamma
        if method.points is None:
            sizes["num_points"] = 25
        if isinstance(method.covariance, ClosedForm):
            sizes |= Sizes(num_mean_steps=num_steps, num_steps=None)
        elif method.mean is not None:  # most of the steps are for the mean alone
            sizes |= Sizes(num_mean_steps=num_steps, num_steps=max(200, num_steps // 5))
    return sizes


def _hidden(method: AbstractMethod, num_rows: int) -> tuple[int, ...]:
    network = getattr(method, "network", None)
    if isinstance(network, MLP) and network.hidden != MLP().hidden:
        return network.hidden
    return (100, 100) if num_rows < 10_000 else (200, 200)
