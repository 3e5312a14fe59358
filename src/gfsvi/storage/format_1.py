"""Files of format 1, which named classes by the modules that defined them then."""

import re
from typing import Any

import numpy as np

from gfsvi.storage.tags import class_of, unknown

Fields = dict[str, Any]
"""The decoded fields of an object, by name."""

# What the classes of a module or package of that time are called in tags.
_KINDS = {
    "covariance": "covariance",
    "covariances": "covariance",
    "data": "data",
    "diagnostics": "diagnostic",
    "fields.kernel": "kernel",
    "fields.network": "network",
    "functions": "function",
    "kernel": "kernel",
    "kernels": "kernel",
    "learning.novelty": "novelty",
    "learning.settings": "fitted",
    "likelihoods": "likelihood",
    "means": "mean",
    "methods": "method",
    "model": "model",
    "networks": "network",
    "points": "points",
    "preparation.columns": "column",
    "preparation.preparation": "preparation",
    "training": "training",
    "values": "values",
    "warp": "warp",
}
# Fields that a class did not have at that time, with the value they had in effect.
_ADDED: dict[str, Fields] = {"data:data": {"weights": None}}
# The same of files of format 2.
ADDED_IN_FORMAT_2: dict[str, Fields] = {"column:date": {"style": "year first"}}
# Settings of a training that are now those of `Adam`, and what replaced Adam.
_ADAM = {
    "learning_rate": "learning_rate",
    "batch_size": "batch_size",
    "stretch": "max_step_multiplier",
    "slow": "slow",
}
_OTHER_OPTIMIZERS = ("all_at_once", "quasi_newton", "optimizer")


def tag_of_old_name(name: str) -> str:
    """The tag of a class by its full name in format 1, such as `gfsvi.kernels.rbf.RBF`."""
    package, _, rest = name.partition(".")
    home, _, class_name = rest.rpartition(".")
    kind = _KINDS.get(home) or _KINDS.get(home.partition(".")[0])
    if package != "gfsvi" or kind is None or not re.fullmatch(r"[A-Za-z0-9]+", class_name):
        raise unknown(name)
    return f"{kind}:{_snake_case(class_name)}"


def _snake_case(name: str) -> str:
    # A word begins at a capital after a small letter, or at the last capital of several.
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def upgraded_fields(tag: str, fields: Fields) -> Fields:
    """The fields of an object of format 1 as its class declares them now.

    A class that gains, loses or renames a field translates its old fields here.
    """
    if tag == "training:training":
        return _with_optimizer(fields)
    if tag == "method:gfsvi":
        fields = _with_mean_fit(_with_subsampling(fields))
    if tag.startswith("method:") and "calibrate" in fields:
        fields = _with_calibration(fields)
    return _ADDED.get(tag, {}) | ADDED_IN_FORMAT_2.get(tag, {}) | fields


def _with_optimizer(fields: Fields) -> Fields:
    """One optimiser in place of the settings of Adam and L-BFGS."""
    kept = dict(fields)
    settings = dict(zip(_ADAM.values(), _removed(kept, *_ADAM), strict=True))
    max_rows, quasi_newton, other = _removed(kept, *_OTHER_OPTIMIZERS)
    if other is not None:  # a function, which no file of format 1 could hold
        raise unknown(other)
    optimizer = class_of("optimizer:adam")(**settings)
    if max_rows:
        optimizer = class_of("optimizer:full_batch_up_to")(max_rows, optimizer)
    return kept | {"optimizer": class_of("optimizer:lbfgs")() if quasi_newton else optimizer}


def _with_subsampling(fields: Fields) -> Fields:
    """One object for how a step draws functions and outputs."""
    kept = dict(fields)
    sampled = _removed(kept, "num_samples", "num_outputs")
    return kept | {"subsampling": class_of("method:subsampling")(*sampled)}


def _with_mean_fit(fields: Fields) -> Fields:
    """One object for how the mean is fitted first.

    Without `warm_up` and with `gauss_newton` undecided, format 1 took Gauss-Newton steps for a few
    features and none for more, which no mean fit does now: the mean is then not fitted first.
    """
    kept = dict(fields)
    training, gauss_newton = _removed(kept, "warm_up", "gauss_newton")
    if gauss_newton:
        return kept | {"mean": class_of("mean_fit:gauss_newton")()}
    if training is None:
        return kept | {"mean": None}
    mean = class_of("mean_fit:trained")(training)
    if gauss_newton is None:
        mean = class_of("mean_fit:auto")(otherwise=mean)
    return kept | {"mean": mean}


def _with_calibration(fields: Fields) -> Fields:
    """One object for how held-out rows set the noise; None meant the most probable share."""
    kept = {"leave_one_out": False} | fields  # only GFSVI had this field
    share, leave_one_out = _removed(kept, "calibrate", "leave_one_out")
    if share is None:
        calibration = class_of("calibration:most_probable")()
    elif share == 0:
        calibration = class_of("calibration:none")()
    else:
        calibration = class_of("calibration:held_out")(share, leave_one_out)
    return kept | {"calibration": calibration}


def _removed(fields: Fields, *names: str) -> tuple[Any, ...]:
    """Remove the settings of these names, each one value, and return them."""
    values = tuple(fields.pop(name) for name in names)
    if any(isinstance(value, np.ndarray) for value in values):
        raise TypeError("an array in place of a setting")
    return values
