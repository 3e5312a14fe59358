"""Predictive entropy of rotated test images."""

import numpy as np

from gfsvi.bench import images
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.model import Model

ANGLES = np.arange(0, 181, 20)
MAX_SHARE = 0.05
"""Share of the test images that are rotated; each is used at every angle."""


class Rotation(AbstractTask):
    """Mean predictive entropy of test images by angle of rotation."""

    settings = images.SETTINGS
    long_runs = True

    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        fitted = images.fit(run, arrays)
        return rotated_images(fitted.fit.posterior, fitted.images)

    def datasets(self, run: Run) -> tuple[str, ...]:
        return images.datasets_of(run)


def rotated_images(posterior: Model, known: images.Images) -> Measured:
    """Mean entropy of the first test images at each angle."""
    x = np.asarray(known.test.x)[: max(50, round(MAX_SHARE * len(known.test)))]
    predictions = [images.predictions(posterior, rotated(x, angle)) for angle in ANGLES]
    entropy = np.array([np.mean(images.entropies(found)) for found in predictions])
    return {
        "entropy_upright": float(entropy[0]),
        "entropy_at_right_angle": float(np.interp(90, ANGLES, entropy)),
        "angles": ANGLES,
        "entropy_at_angle": entropy,
    }


def rotated(x: np.ndarray, degrees: float) -> np.ndarray:
    """Images rotated about their centre, filled with the darkest pixel from outside."""
    from scipy.ndimage import rotate  # a dependency of scikit-learn, slow to import

    if degrees == 0:
        return x
    return rotate(x, degrees, axes=(2, 1), reshape=False, order=1, cval=float(x.min()))
