"""The record of a training run, and the result of a fit."""

from typing import TYPE_CHECKING, Generic, TypeVar

import equinox as eqx
import numpy as np

from gfsvi.model import Model
from gfsvi.numerics.printing import Printed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

M = TypeVar("M", bound=Model, covariant=True)


class History(Printed):
    """The record of a training run: one entry per step, and one per evaluation on held-out rows."""

    steps: dict[str, np.ndarray]
    score_steps: np.ndarray
    scores: np.ndarray
    best_step: int = eqx.field(static=True)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Plot the objective and the validation score over the steps (needs matplotlib)."""
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if axes is None else axes
        axes.plot(self.steps["objective"], label="objective", color="#0072b2")
        axes.set_xlabel("step")
        axes.set_ylabel("objective per row")
        if len(self.scores):
            axes.plot(self.score_steps, self.scores, label="validation score", color="#d55e00")
            axes.axvline(self.best_step, color="0.6", linestyle=":", label="best")
        axes.legend()
        return axes


class Fit(Printed, Generic[M]):
    """The result of inference: a posterior, which is again a model, and the record of the fit."""

    posterior: M
    history: History
