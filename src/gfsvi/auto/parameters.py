"""The parameters of a fit, written once for estimators and the command line."""

import dataclasses
from collections.abc import Callable
from os import PathLike
from typing import Literal

import numpy as np

from gfsvi.auto.units import has_units
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.networks.base import AbstractNetwork
from gfsvi.storage.fields import admits, described
from gfsvi.training.settings import Progress

Watch = Callable[[str, Progress], bool | None]
"""Called with the name of the phase and its progress; True stops the fit."""

NOT_SAVED = frozenset({"watch", "verbose", "checkpoint", "time_budget"})
"""Parameters that do not affect what the model is."""


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Parameters:
    """The parameters of a fit; all have defaults.

    Args:
        kernel: The prior: "auto" to choose a family from the data, the name of a kernel, or a
            kernel of gfsvi, GPJax, tinygp or scikit-learn, whose parameters are then learned.
            Its numbers are in standard deviations of the features. A text is in the units of the
            column and stays fixed: `Periodic(period="1 year").on("date")`, or
            `RBF(lengthscale="50").on("size")`; "~50" is where learning starts.
        likelihood: How targets scatter around the function: "auto", the name of a likelihood, or
            a likelihood. With a `CustomLikelihood` the parameters of the kernel stay as given.
        network: For images (row, height, width[, channel]): "cnn", or a network of gfsvi,
            Equinox, Flax or Haiku that takes images with channels; None for a table.
        hidden: Widths of the hidden layers, for a table.
        num_points: Number of measurement points, where prior and posterior are compared.
        gamma: The regulariser of the divergence.
        num_steps: Number of training steps; for a covariance that is trained, those after the
            mean has been fitted.
        batch_size: Rows per step.
        validation_fraction: Share of the rows that is held out to stop early and set the noise;
            None for none where every row can be left out in closed form, else a tenth.
        prior_mean: What the network builds on: "auto" for trees of scikit-learn, beside a network
            without them, where rows that they have not seen say so; "trees" to consider them
            whatever the number of rows and the kernel; None for no mean; or a regressor of
            scikit-learn, which is fitted in folds and becomes the mean of the prior of numbers.
        members: Number of networks that are trained from different weights and mixed.
        held_out: Which rows these are: "auto" for the latest ones of a table in time order and
            random ones otherwise, "end" for the last ones, "random", or "none". A posterior in
            closed form learns them once they have been predicted.
        conformal: By which rows intervals and sets of labels promise their coverage: "split" to set
            a fifth of the rows aside for it, which guarantees it for rows like these, "left_out"
            for training rows that are left out in closed form, which costs no rows, or "none" for
            the model's own intervals.
        time_budget: Time limit in seconds; `fit` returns the best model found by then.
        checkpoint: A file that keeps the state of training, to resume from if interrupted.
        watch: Called regularly with the phase ("prior", "mean", "posterior" or "examination") and
            its `Progress`; return True to stop.
        verbose: Whether to show the progress of a fit, on the terminal or in the notebook.
        random_state: A seed or a NumPy random state.
    """

    kernel: str | object = "auto"
    likelihood: str | AbstractLikelihood = "auto"
    network: str | object | None = None
    hidden: tuple[int, ...] | None = None
    num_points: int | None = None
    gamma: float | None = None
    num_steps: int | None = None
    batch_size: int | None = None
    validation_fraction: float | None = None
    prior_mean: Literal["auto", "trees"] | object | None = "auto"
    members: int = 1
    held_out: Literal["auto", "end", "random", "none"] = "auto"
    conformal: Literal["none", "split", "left_out"] = "none"
    time_budget: float | None = None
    checkpoint: str | PathLike[str] | None = None
    watch: Watch | None = None
    verbose: bool = False
    random_state: int | np.random.RandomState | None = None


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MethodParameters(Parameters):
    """The parameters of a fit by any method.

    Args:
        method: The name of a method, or a method.
        prior_scale: The standard deviation of weights, for methods with a prior over weights.
    """

    method: str | AbstractMethod = dataclasses.field(default="gfsvi", kw_only=False)
    prior_scale: float = 1.0


def saved_parameters(parameters: Parameters) -> dict[str, object]:
    """The parameters that are written to a model file."""
    names = [field.name for field in dataclasses.fields(parameters)]
    saved = {name: getattr(parameters, name) for name in names if name not in NOT_SAVED}
    kernel = parameters.kernel
    # What names columns is meant for users, not for the arrays of a file.
    mean = parameters.prior_mean  # a regressor is not data, and its class is not in any table
    return saved | {
        "kernel": kernel.code() if has_units(kernel) else kernel,
        "prior_mean": mean if mean is None or isinstance(mean, str) else "auto",
    }


def not_saved(parameters: dict[str, object]) -> str | None:
    """What is among these parameters of a file that `saved_parameters` never writes, in words."""
    for name, value in parameters.items():
        if name not in _SAVED:
            return f"{described(name)} too"
        if not admits(name, _SAVED[name], value):
            return f"the {name} {described(value)}"
    return None


# Kernels and networks of other libraries, which `Parameters` admits, cannot be saved.
_SAVED = {
    field.name: field.type
    for field in dataclasses.fields(MethodParameters)
    if field.name not in NOT_SAVED
} | {
    "kernel": str | AbstractKernel,
    "network": str | AbstractNetwork | None,
    "prior_mean": Literal["auto", "trees"] | None,
}
