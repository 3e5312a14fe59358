"""Whether the posterior is less sure of images of another kind."""

from typing import Any

import numpy as np

from gfsvi import metrics
from gfsvi.bench import images
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.model import Model

EDGES = np.linspace(0, np.log(images.NUM_CLASSES), 41)


class OodImages(AbstractTask):
    """Known images told from unknown ones by one threshold on the predictive entropy."""

    settings = images.SETTINGS
    long_runs = True

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        fitted = images.fit(run, arrays)
        return unknown_images(fitted.fit.posterior, fitted.images, run, arrays)

    def datasets(self, run: Run) -> tuple[str, ...]:
        return (*images.datasets_of(run), images.OUTSIDE[run.dataset])


def unknown_images(
    posterior: Model, known: images.Images, run: Run, arrays: dict[str, Arrays]
) -> dict[str, Any]:
    """Accuracy of the best threshold, and how entropies are distributed.

    As many training images of the other data set as there are test images, standardised likewise.
    """
    others = arrays[images.OUTSIDE[run.dataset]]
    count = len(known.test)
    rows = np.random.default_rng(run.seed).permutation(len(others["x_train"]))[:count]
    outside = images.standardized(others["x_train"][np.sort(rows)], others)
    inside_entropy = images.entropies(posterior, np.asarray(known.test.x))
    outside_entropy = images.entropies(posterior, outside)
    return {
        "ood_accuracy": metrics.out_of_distribution_accuracy(inside_entropy, outside_entropy),
        "entropy_known": float(np.mean(inside_entropy)),
        "entropy_unknown": float(np.mean(outside_entropy)),
        "entropy_edges": EDGES,
        "share_known": _shares(inside_entropy),
        "share_unknown": _shares(outside_entropy),
    }


def _shares(entropies: np.ndarray) -> np.ndarray:
    return np.histogram(np.clip(entropies, EDGES[0], EDGES[-1]), EDGES)[0] / len(entropies)
