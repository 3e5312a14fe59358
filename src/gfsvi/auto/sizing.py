"""A method with the network and the sizes of one fit."""

import dataclasses
from typing import Any

from gfsvi.auto.phases import MEAN, POSTERIOR, Phases
from gfsvi.auto.settings import Settings, with_batch_size
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.inference.calibration import MostProbable
from gfsvi.inference.mean_fit import AbstractMeanFit, AutoMean, TrainedMean
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import Subsampling
from gfsvi.networks.base import AbstractNetwork
from gfsvi.training.settings import Training

_FOR_IMAGES = {"covariance": Diagonal(), "subsampling": Subsampling(2, 2)}
"""A layer that sees a whole image has too many inputs for a matrix over them, and ten outputs at
every image too many Jacobians."""


def sized(
    method: AbstractMethod, settings: Settings, network: AbstractNetwork, phases: Phases
) -> AbstractMethod:
    """The method with the sizes of a fit, for those that it has fields for."""
    given: dict[str, Any] = {"points": settings.points, "gamma": settings.gamma}
    changes = {name: value for name, value in given.items() if value is not None}
    changes |= {"network": network, "calibration": MostProbable()}
    if settings.image_shape is not None:
        changes |= _FOR_IMAGES
    training, mean = (getattr(method, name, None) for name in ("training", "mean"))
    if isinstance(training, Training):
        resized = _resized(training, settings, settings.num_steps)
        changes["training"] = phases.training(resized, POSTERIOR)
    if isinstance(mean, AbstractMeanFit):
        changes["mean"] = _resized_mean(mean, settings, phases)
    fields = {field.name for field in dataclasses.fields(method)}
    return dataclasses.replace(method, **{n: v for n, v in changes.items() if n in fields})


def _resized(training: Training, settings: Settings, num_steps: int | None) -> Training:
    training = with_batch_size(training, settings.batch_size)
    if num_steps is None:
        return training
    return dataclasses.replace(training.for_rows(settings.num_rows), num_steps=num_steps)


def _resized_mean(mean: AbstractMeanFit, settings: Settings, phases: Phases) -> AbstractMeanFit:
    if isinstance(mean, AutoMean):
        inner = _resized_mean(mean.otherwise, settings, phases)
        return dataclasses.replace(mean, otherwise=inner)
    if isinstance(mean, TrainedMean):
        resized = _resized(mean.training, settings, settings.num_mean_steps)
        return dataclasses.replace(mean, training=phases.training(resized, MEAN))
    return mean
