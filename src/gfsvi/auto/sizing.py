"""Give a method the network and the sizes of one fit."""

import dataclasses

from gfsvi import registry
from gfsvi.auto.phases import MEAN, POSTERIOR, PRIOR, Phases
from gfsvi.auto.recipe import Recipe
from gfsvi.auto.settings import Settings, divided, with_batch_size
from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.mean_fit import AbstractMeanFit, TrainedMean
from gfsvi.inference.quick_mean import QuickMean
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.empirical_bayes import EmpiricalBayes
from gfsvi.methods.evidence_search import EvidenceSearch
from gfsvi.methods.gfsvi import GFSVI, Subsampling
from gfsvi.networks.adapters import as_network
from gfsvi.networks.base import AbstractNetwork
from gfsvi.networks.cnn import CNN
from gfsvi.networks.layered import AbstractLayeredNetwork
from gfsvi.networks.mlp import MLP
from gfsvi.points import UniformBox
from gfsvi.training.optimizers import FullBatchUpTo
from gfsvi.training.settings import Training

_TRAINED_FOR_IMAGES = {"covariance": Diagonal(), "subsampling": Subsampling(2, 2)}
"""A layer that sees a whole image has too many inputs for a matrix over them, and ten outputs at
every image too many Jacobians."""
IMAGES_AS_POINTS = 300
"""Training images among the measurement points of a closed form; more change nothing."""


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
    computed = isinstance(getattr(method, "covariance", None), ClosedForm)
    if settings.image_shape is not None and isinstance(method, GFSVI):
        computed = computed and isinstance(network, AbstractLayeredNetwork)
        method = method if computed else dataclasses.replace(method, **_TRAINED_FOR_IMAGES)
    wanted = {"network": network, "gamma": settings.gamma, "calibration": recipe.calibration}
    wanted |= _closed_form(method, settings) if computed else _points(method, settings)
    changes = {name: value for name, value in wanted.items() if value is not None}
    training, mean = (getattr(method, name, None) for name in ("training", "mean"))
    if isinstance(training, Training) and not computed:
        resized = _resized(training, settings, _steps_of_covariance(settings))
        changes["training"] = phases.training(resized, POSTERIOR)
    if isinstance(mean, AbstractMeanFit):
        changes["mean"] = _resized_mean(mean, settings, phases)
    if computed:
        changes["is_over"] = phases.is_over(POSTERIOR)
    fields = {field.name for field in dataclasses.fields(method)}
    return dataclasses.replace(method, **{n: v for n, v in changes.items() if n in fields})


def _steps_of_covariance(settings: Settings) -> int | None:
    """Those of the settings; a fifth of the mean's where a network of images has no closed form."""
    if settings.image_shape is None or settings.num_steps or not settings.num_mean_steps:
        return settings.num_steps
    return max(1, settings.num_mean_steps // 5)


def _points(method: AbstractMethod, settings: Settings) -> dict[str, object]:
    """The measurement points of the settings, or the method's own box with that many points."""
    chosen, count = getattr(method, "points", None), settings.num_points
    if isinstance(chosen, UniformBox):
        return {} if count is None else {"points": dataclasses.replace(chosen, num_points=count)}
    return {"points": settings.points}


def _closed_form(method: GFSVI, settings: Settings) -> dict[str, object]:
    """Training rows, and the method's own further points or a box."""
    if settings.image_shape is not None:
        family = dataclasses.replace(method.covariance, max_rows=IMAGES_AS_POINTS)
        return {"points": method.points or settings.points, "covariance": family}
    if settings.num_points is None:
        return {}
    max_rows, num_box = divided(settings.num_points)
    points = UniformBox(num_box) if method.points is None else method.points
    family = dataclasses.replace(method.covariance, max_rows=max_rows)
    return {"points": points, "covariance": family}


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
        quick, inner = (
            _resized_mean(part, settings, phases) for part in (mean.quick, mean.otherwise)
        )
        return dataclasses.replace(mean, quick=quick, otherwise=inner)
    if isinstance(mean, QuickMean):
        num_steps = settings.num_mean_steps or mean.training.num_steps
        training = dataclasses.replace(mean.training, num_steps=num_steps)
        given = {"num_streamed": settings.num_mean_steps}
        return dataclasses.replace(mean, training=phases.training(training, MEAN), **given)
    if isinstance(mean, TrainedMean):
        resized = _resized(mean.training, settings, settings.num_mean_steps)
        return dataclasses.replace(mean, training=phases.training(resized, MEAN))
    return mean


def choice_within(
    choice: EmpiricalBayes | EvidenceSearch, phases: Phases
) -> EmpiricalBayes | EvidenceSearch:
    """The same choice of a prior, limited to its share of the time budget."""
    if isinstance(choice, EvidenceSearch):
        training, otherwise = phases.training(choice.training, PRIOR), choice.otherwise
        return dataclasses.replace(
            choice, training=training, otherwise=choice_within(otherwise, phases)
        )
    last = None if choice.last is None else phases.training(choice.last, PRIOR)
    return dataclasses.replace(choice, training=phases.training(choice.training, PRIOR), last=last)
