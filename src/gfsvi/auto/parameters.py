"""The parameters of a fit, written once for estimators and the command line."""

import dataclasses
from collections.abc import Callable
from os import PathLike

import numpy as np

from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.training.settings import Progress

Watch = Callable[[str, Progress], bool | None]
"""Called with the name of the phase and how far it has come; True stops the fit."""

NOT_SAVED = frozenset({"watch", "checkpoint", "time_budget"})
"""Where and how long a fit ran says nothing about the model."""


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """What a user may say about a fit; everything has a default.

    Args:
        kernel: The prior: "auto" to choose a family from the data, the name of a kernel, or a
            kernel of gfsvi, GPJax, tinygp or scikit-learn. Its parameters are learned from there.
        likelihood: How observations scatter: "auto", the name of a likelihood, or a likelihood.
            Under a `CustomLikelihood` the kernel keeps its parameters: give it one that fits.
        network: For images (row, height, width[, channel]): "cnn", or a network of gfsvi,
            Equinox, Flax or Haiku that takes them with their channels; None for a table.
        hidden: Widths of the hidden layers of the network for a table.
        num_points: How many points prior and posterior are compared at.
        gamma: The regulariser of the divergence.
        num_steps: Steps of training after the mean has been fitted.
        batch_size: Rows per step.
        validation_fraction: Share of the rows that decide when to stop and set the noise.
        time_budget: Seconds that `fit` may take; it returns the best model found until then.
        checkpoint: A file that keeps the state of training, to continue from if interrupted.
        watch: Called with the phase and its `Progress` now and then; return True to stop.
        random_state: Seed, or a NumPy random state.
    """

    kernel: str | object = "auto"
    likelihood: str | AbstractLikelihood = "auto"
    network: str | object | None = None
    hidden: tuple[int, ...] | None = None
    num_points: int | None = None
    gamma: float | None = None
    num_steps: int | None = None
    batch_size: int | None = None
    validation_fraction: float = 0.1
    time_budget: float | None = None
    checkpoint: str | PathLike[str] | None = None
    watch: Watch | None = None
    random_state: int | np.random.RandomState | None = None


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MethodParameters(Parameters):
    """The same for any method.

    Args:
        method: The name of a method, or a method.
        prior_scale: The standard deviation of weights, for methods with a prior over weights.
    """

    method: str | AbstractMethod = dataclasses.field(default="gfsvi", kw_only=False)
    prior_scale: float = 1.0


def saved_parameters(parameters: Parameters) -> dict[str, object]:
    """The parameters that a model file keeps."""
    names = [field.name for field in dataclasses.fields(parameters)]
    return {name: getattr(parameters, name) for name in names if name not in NOT_SAVED}
