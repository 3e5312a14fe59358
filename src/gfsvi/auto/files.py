"""What was learned, as a file."""

from os import PathLike
from pathlib import Path
from typing import Any

from gfsvi.auto.learner import Learned
from gfsvi.storage import model_file as persistence

# Where and how long a fit ran says nothing of the model.
NOT_SAVED = {"watch", "checkpoint", "time_budget"}


def save(
    path: str | PathLike[str], estimator: str, params: dict[str, Any], learned: Learned
) -> None:
    """Write a fitted estimator by its name, parameters and attributes.

    Its checkpoint, if it had one, has served its purpose.
    """
    kept = {name: value for name, value in params.items() if name not in NOT_SAVED}
    persistence.write(path, {"estimator": estimator, "params": kept, "fitted": learned})
    if params.get("checkpoint") is not None:
        Path(params["checkpoint"]).unlink(missing_ok=True)
