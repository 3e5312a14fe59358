"""Give a method the network and the sizes of one fit."""

import dataclasses

from gfsvi import registry
from gfsvi.auto.phases import MEAN, POSTERIOR, Phases
from gfsvi.auto.recipe import Recipe
from gfsvi.auto.settings import Settings, with_batch_size
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.inference.mean_fit import AbstractMeanFit, AutoMean, TrainedMean
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import Subsampling
from gfsvi.networks.adapters import as_network
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.cnn import CNN
from gfsvi.networks.mlp import MLP
from gfsvi.points import AbstractPoints, UniformBox
from gfsvi.training.optimizers import FullBatchUpTo
from gfsvi.training.settings import Training

_FOR_IMAGES = {"covariance": Diagonal(), "subsampling": Subsampling(2, 2)}
"""A layer that sees a whole image has too many inputs for a matrix over them, and ten outputs at
every image too many Jacobians."""


def network_for(
    chosen: object, method: AbstractMethod, settings: Settings, num_outputs: int
) -> AbstractNetwork:
    """The chosen network with the number of outputs that is needed; a foreign one as it is.

    Args:
        chosen: The name of a network, a network of any library, or None for the method's own.
        method: The method that trains it.
        settings: The sizes of the fit.
        num_outputs: The number of outputs that the likelihood needs.
    """
    if chosen is None:
        chosen = getattr(method, "network", MLP())
    if isinstance(chosen, str):
        chosen = registry.find("networks", chosen)()
    if isinstance(chosen, CNN):
        return dataclasses.replace(chosen, outputs=num_outputs)
    if isinstance(chosen, MLP):
        return MLP(settings.hidden, num_outputs, chosen.activation)
    return as_network(chosen)


def sized(
    recipe: Recipe, settings: Settings, network: AbstractNetwork, phases: Phases
) -> AbstractMethod:
    """The method of a recipe with the sizes of a fit, as far as it has such fields."""
    method = recipe.method
    wanted = {
        "network": network,
        "points": _points(getattr(method, "points", None), settings),
        "gamma": settings.gamma,
        "calibration": recipe.calibration,
    }
    changes = {name: value for name, value in wanted.items() if value is not None}
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


def _points(chosen: AbstractPoints | None, settings: Settings) -> AbstractPoints | None:
    """The measurement points of the settings, or the method's own box with that many points."""
    if isinstance(chosen, UniformBox):
        count = settings.num_points
        return chosen if count is None else dataclasses.replace(chosen, num_points=count)
    return settings.points


def _resized(training: Training, settings: Settings, num_steps: int | None) -> Training:
    training = with_batch_size(training, settings.batch_size)
    if settings.image_shape is not None and isinstance(training.optimizer, FullBatchUpTo):
        # Measurement points of images move from step to step, which no line search can follow.
        training = dataclasses.replace(training, optimizer=training.optimizer.otherwise)
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
