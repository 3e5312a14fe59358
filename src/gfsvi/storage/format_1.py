"""Files of format 1, which named classes by the modules that defined them then."""

import re
from typing import Any

from gfsvi.storage.tags import unknown

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
_ADDED: dict[str, dict[str, Any]] = {"data:data": {"weights": None}}


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


def upgraded_fields(tag: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object of format 1 as its class declares them now.

    A class that gains, loses or renames a field translates its old fields here. Methods and their
    training settings are not translated, since no fitted model holds them.
    """
    return _ADDED.get(tag, {}) | fields
