"""How unsure the posterior gets when test images are turned."""

from typing import Any

import numpy as np

from gfsvi.bench import images
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.model import Model

ANGLES = np.arange(0, 181, 20)
MAX_SHARE = 0.05
"""Of the test images, each at every angle."""


class Rotation(AbstractTask):
    """Mean predictive entropy of test images against the angle by which they are turned."""

    settings = images.SETTINGS
    long_runs = True

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        fitted = images.fit(run, arrays)
        return turned_images(fitted.fit.posterior, fitted.images)

    def datasets(self, run: Run) -> tuple[str, ...]:
        return images.datasets_of(run)


def turned_images(posterior: Model, known: images.Images) -> dict[str, Any]:
    """Mean entropy at each angle, of the first test images."""
    x = np.asarray(known.test.x)[: max(50, round(MAX_SHARE * len(known.test)))]
    predictions = [images.predictions(posterior, turned(x, angle)) for angle in ANGLES]
    entropy = np.array([np.mean(images.entropies(found)) for found in predictions])
    return {
        "entropy_upright": float(entropy[0]),
        "entropy_at_right_angle": float(np.interp(90, ANGLES, entropy)),
        "angles": ANGLES,
        "entropy_at_angle": entropy,
    }


def turned(x: np.ndarray, degrees: float) -> np.ndarray:
    """Images turned about their middle, what was outside being as dark as the darkest pixel."""
    from scipy.ndimage import rotate  # comes with scikit-learn; takes a while to import

    if degrees == 0:
        return x
    return rotate(x, degrees, axes=(2, 1), reshape=False, order=1, cval=float(x.min()))
