"""The stages of a fit: each is watched, remembered and kept within its share of the time."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any

from gfsvi.auto.settings import Settings
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.methods.base import AbstractMethod
from gfsvi.networks.base import AbstractNetwork
from gfsvi.storage.checkpoints import Checkpoints
from gfsvi.training.settings import Progress, Training

Watch = Callable[[str, Progress], bool | None]
AFTERWARDS = 7.0
"""Seconds that noise, novelty and diagnostics take after training, most of it to compile them."""


_FOR_IMAGES = {"covariance": Diagonal(), "num_samples": 2, "num_outputs": 2}
"""A layer that sees a whole image has too many inputs for a matrix over them, and ten outputs at
every image too many Jacobians."""


class Stages:
    """Hands out trainings that know what time it is and whom to tell."""

    def __init__(self, checkpoints: Checkpoints | None, watch: Watch | None, budget: float | None):
        self._checkpoint = None if checkpoints is None else checkpoints.begin
        self._watch = watch
        self._budget = budget
        self._began = time.monotonic()

    def training(self, training: Training, stage: str, *, until: float) -> Training:
        """This training, ended when the given share of the time for training is used up."""

        def watch(progress: Progress) -> bool:
            told_to = self._watch is not None and bool(self._watch(stage, progress))
            return told_to or self._is_late(until)

        return dataclasses.replace(training, watch=watch, checkpoint=self._checkpoint)

    def sized(
        self, method: AbstractMethod, settings: Settings, network: AbstractNetwork
    ) -> AbstractMethod:
        """The method with the network and the sizes of a fit, for those that it has fields for."""
        given: dict[str, Any] = {"points": settings.points, "gamma": settings.gamma}
        changes = {name: value for name, value in given.items() if value is not None}
        changes["network"] = network
        if settings.image_shape is not None:
            changes |= _FOR_IMAGES
        for name, stage, until, num_steps in (
            ("training", "posterior", 1.0, settings.num_steps),
            ("warm_up", "mean", 0.7, settings.num_mean_steps),
        ):
            if isinstance(training := getattr(method, name, None), Training):
                sized = dataclasses.replace(training, batch_size=settings.batch_size)
                if settings.image_shape is not None:
                    sized = dataclasses.replace(sized, all_at_once=0)
                if num_steps is not None:
                    sized = sized.for_rows(settings.num_rows)
                    sized = dataclasses.replace(sized, num_steps=num_steps)
                changes[name] = self.training(sized, stage, until=until)
        # None: however far validation rows say.
        changes |= {"calibrate": None, "leave_one_out": False}
        fields = {field.name for field in dataclasses.fields(method)}
        return dataclasses.replace(method, **{n: v for n, v in changes.items() if n in fields})

    def _is_late(self, until: float) -> bool:
        if self._budget is None:
            return False
        usable = max(self._budget - AFTERWARDS, 0.1 * self._budget)
        return time.monotonic() - self._began > until * usable
