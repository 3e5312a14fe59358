"""What happened during training, and what came out of it."""

from typing import Any

import equinox as eqx
import numpy as np

from gfsvi.model import Model


class History(eqx.Module):
    """What happened while training: one entry a step, and one a look at the validation data."""

    steps: dict[str, np.ndarray]
    score_steps: np.ndarray
    scores: np.ndarray
    best_step: int = eqx.field(static=True)

    def plot(self, axes: Any = None) -> Any:
        """Draw objective and validation score against the step (needs matplotlib)."""
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1] if axes is None else axes
        axes.plot(self.steps["objective"], label="objective", color="#0072b2")
        axes.set_xlabel("step")
        axes.set_ylabel("objective a row")
        if len(self.scores):
            axes.plot(self.score_steps, self.scores, label="validation score", color="#d55e00")
            axes.axvline(self.best_step, color="0.6", linestyle=":", label="best")
        axes.legend()
        return axes


class Fit(eqx.Module):
    """The result of inference: a posterior, which is again a model, and how it was reached."""

    posterior: Model
    history: History
