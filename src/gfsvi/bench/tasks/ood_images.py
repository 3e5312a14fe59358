"""Detection of images from another data set by predictive entropy."""

import numpy as np

from gfsvi import metrics
from gfsvi.bench import images
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.model import Model

EDGES = np.linspace(0, np.log(images.NUM_CLASSES), 41)


class OodImages(AbstractTask):
    """Separates known from unknown images by a threshold on the predictive entropy."""

    settings = images.SETTINGS
    long_runs = True

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        fitted = images.fit(run, arrays)
        posterior = fitted.fit.posterior
        known = images.predictions(posterior, np.asarray(fitted.images.test.x))
        return unknown_images(posterior, images.entropies(known), run, arrays)

    def datasets(self, run: Run) -> tuple[str, ...]:
        return (*images.datasets_of(run), images.OUTSIDE[run.dataset])


def unknown_images(
    posterior: Model, known: np.ndarray, run: Run, arrays: dict[str, Arrays]
) -> Measured:
    """Accuracy of the best threshold, and histograms of the entropies.

    Args:
        posterior: The fitted posterior, evaluated at training images of the other data set.
        known: Entropies at test images; equally many unknown images are drawn.
        run: The run whose seed draws them.
        arrays: Arrays by data set, with those of the other data set.
    """
    others = arrays[images.OUTSIDE[run.dataset]]
    rows = np.random.default_rng(run.seed).permutation(len(others["x_train"]))[: len(known)]
    outside = images.standardized(others["x_train"][np.sort(rows)], others)
    unknown = images.entropies(images.predictions(posterior, outside))
    return {
        "ood_accuracy": metrics.out_of_distribution_accuracy(known, unknown),
        "entropy_known": float(np.mean(known)),
        "entropy_unknown": float(np.mean(unknown)),
        "entropy_edges": EDGES,
        "share_known": _shares(known),
        "share_unknown": _shares(unknown),
    }


def _shares(entropies: np.ndarray) -> np.ndarray:
    return np.histogram(np.clip(entropies, EDGES[0], EDGES[-1]), EDGES)[0] / len(entropies)
