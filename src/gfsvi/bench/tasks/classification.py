"""How well images are classified, and whether the posterior knows what it does not know."""

from typing import Any

import numpy as np

from gfsvi import metrics
from gfsvi.bench import images
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.bench.tasks.ood_images import unknown_images
from gfsvi.bench.tasks.rotation import turned_images
from gfsvi.data import Data
from gfsvi.model import Model


class Classification(AbstractTask):
    """Scores on the test images, and on one fit all that the other tasks on images measure."""

    settings = images.SETTINGS
    long_runs = True

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        fitted = images.fit(run, arrays)
        posterior, history = fitted.fit.posterior, fitted.fit.history
        return (
            scores(posterior, fitted.images.test)
            | unknown_images(posterior, fitted.images, run, arrays)
            | turned_images(posterior, fitted.images)
            | {"steps": history.score_steps, "scores": history.scores}
            | {"num_steps": float(len(history.steps["objective"])), **fitted.seconds}
        )

    def datasets(self, run: Run) -> tuple[str, ...]:
        return (*images.datasets_of(run), images.OUTSIDE[run.dataset])


def scores(posterior: Model, test: Data) -> dict[str, float]:
    """The paper's scores of predictions, each a mean over images."""
    found = images.predictions(posterior, np.asarray(test.x))
    parts = np.split(np.asarray(test.y), np.cumsum([len(p.entropy) for p in found])[:-1])
    pairs = list(zip(found, parts, strict=True))
    weights = [len(part) for part in parts]

    def mean(metric: Any) -> float:
        return float(np.average([metric(p, y) for p, y in pairs], weights=weights))

    return {
        "expected_log_likelihood": mean(metrics.expected_log_likelihood),
        "log_predictive_density": mean(metrics.log_predictive_density),
        "accuracy": mean(metrics.accuracy),
        "ece": metrics.calibration_error(
            np.concatenate([np.asarray(p.probabilities) for p in found]), np.asarray(test.y)
        ),
    }
