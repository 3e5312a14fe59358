"""Classification of images, with uncertainty on unknown and on rotated images."""

from collections.abc import Callable

import numpy as np

from gfsvi import metrics
from gfsvi.bench import images
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.bench.tasks.ood_images import unknown_images
from gfsvi.bench.tasks.rotation import rotated_images
from gfsvi.data import Data
from gfsvi.model import Model
from gfsvi.predictives.categorical import CategoricalPredictive


class Classification(AbstractTask):
    """Scores on test images, and from the same fit all that the other image tasks measure."""

    settings = images.SETTINGS
    long_runs = True

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        fitted = images.fit(run, arrays)
        posterior, history = fitted.fit.posterior, fitted.fit.history
        held_out = held_out_score(posterior, fitted.images.validation)
        known = images.predictions(posterior, np.asarray(fitted.images.test.x))
        return {
            **scores(known, np.asarray(fitted.images.test.y)),
            "validation_expected_log_likelihood": held_out,
            **unknown_images(posterior, images.entropies(known), run, arrays),
            **rotated_images(posterior, fitted.images),
            "steps": history.score_steps,
            "scores": history.scores,
            "num_steps": float(len(history.steps["objective"])),
            **fitted.seconds,
        }

    def datasets(self, run: Run) -> tuple[str, ...]:
        return (*images.datasets_of(run), images.OUTSIDE[run.dataset])


def held_out_score(posterior: Model, validation: Data) -> float:
    """What settings are chosen by, so that no test image takes part in it."""
    found = images.predictions(posterior, np.asarray(validation.x))
    return scores(found, np.asarray(validation.y))["expected_log_likelihood"]


def scores(found: list[CategoricalPredictive], labels: np.ndarray) -> dict[str, float]:
    """The paper's scores of predictions, each averaged over images."""
    weights = [len(predictive.entropy) for predictive in found]
    pairs = list(zip(found, np.split(labels, np.cumsum(weights)[:-1]), strict=True))

    def mean(metric: Callable[[CategoricalPredictive, np.ndarray], float]) -> float:
        return float(np.average([metric(*pair) for pair in pairs], weights=weights))

    probabilities = np.concatenate([predictive.probabilities for predictive in found])
    return {
        "expected_log_likelihood": mean(metrics.expected_log_likelihood),
        "log_predictive_density": mean(metrics.log_predictive_density),
        "accuracy": mean(metrics.accuracy),
        "ece": metrics.calibration_error(probabilities, labels),
    }
