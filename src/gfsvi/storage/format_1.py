"""Files of format 1, which named classes by the modules they lived in."""

import re
from typing import Any

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


def tag_of_old_name(name: str) -> str:
    """The tag of a class that lived at `gfsvi.kernels.rbf.RBF`, say; the name itself if of none."""
    home, _, class_name = name.removeprefix("gfsvi.").rpartition(".")
    kind = _KINDS.get(home) or _KINDS.get(home.partition(".")[0])
    is_old = name.startswith("gfsvi.") and re.fullmatch(r"[A-Za-z0-9]+", class_name)
    return f"{kind}:{_snake_case(class_name)}" if kind and is_old else name


def _snake_case(name: str) -> str:
    # A word begins at a capital after a small letter, or at the last capital of several.
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def upgraded_fields(tag: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object of format 1, as the class has them today."""
    return fields
