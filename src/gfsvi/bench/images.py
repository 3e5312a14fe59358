"""What the tasks on images share: the split, the measurement points, a fitted posterior."""

import dataclasses
import time
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.experiment import ExperimentError, Run
from gfsvi.bench.task import Arrays
from gfsvi.data import Data
from gfsvi.likelihoods.categorical import Categorical
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.points import AbstractPoints, BatchRows, Mixture, RandomPixel, Rows, UniformBox
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.training.history import Fit

OUTSIDE = {"mnist": "fashion_mnist", "fashion_mnist": "mnist"}
"""The images of the one are unknown to those who learned the other."""
POOL = "kmnist"
MEASUREMENTS = ("random", "random_pixel", POOL)
SETTINGS = ("measurement", "num_rows", "num_test_rows", "pseudo_count")
NUM_CLASSES = 10
HELD_OUT = 0.1
BLOCK = 1000


class Images(NamedTuple):
    """What a run learns from and is judged by."""

    data: Data
    validation: Data
    test: Data


class Fitted(NamedTuple):
    """A posterior and how long it took."""

    fit: Fit
    images: Images
    seconds: dict[str, float]


def datasets_of(run: Run) -> tuple[str, ...]:
    """The data sets that a run needs to fit its posterior."""
    return (run.dataset, *((POOL,) if run.settings.get("measurement") == POOL else ()))


def split(arrays: Arrays, run: Run) -> Images:
    """The training images, a tenth of them held out by the seed, and the test images."""
    order = np.random.default_rng(run.seed).permutation(len(arrays["x_train"]))
    order = order[: run.settings.get("num_rows", len(order))]
    num_held_out = round(HELD_OUT * len(order))
    held_out, rest = np.sort(order[:num_held_out]), np.sort(order[num_held_out:])
    num_test = run.settings.get("num_test_rows", len(arrays["x_test"]))
    known = arrays["x_train"], arrays["y_train"]
    return Images(
        _part(*known, arrays, rest),
        _part(*known, arrays, held_out),
        _part(arrays["x_test"], arrays["y_test"], arrays, np.arange(num_test)),
    )


def standardized(pixels: np.ndarray, arrays: Arrays) -> np.ndarray:
    """Images as numbers by the mean and spread of their own data set, with one channel."""
    known = _all_images(arrays)
    centre, spread = np.float32(known.mean()), np.float32(known.std())
    return ((pixels.astype(np.float32) - centre) / spread)[..., None]


def fit(run: Run, arrays: dict[str, Arrays]) -> Fitted:
    """Choose the prior, if it is a process, and fit the method of a run."""
    images = split(arrays[run.dataset], run)
    settings = _with_network(run.settings)
    method = method_of(settings, arrays)
    key = jax.random.key(run.seed, impl="rbg")  # compiles three times faster
    began = time.perf_counter()
    prior = _prior(method, images.data, settings, key)
    chosen = time.perf_counter()
    found = method(prior, images.data, key=key, validation=images.validation)
    fitted = time.perf_counter()
    return Fitted(found, images, {"prior_seconds": chosen - began, "fit_seconds": fitted - chosen})


def method_of(settings: dict[str, Any], arrays: dict[str, Arrays]) -> AbstractMethod:
    """The method with the paper's distribution of measurement points, if it compares at any."""
    method = build_method(_with_network(settings), SETTINGS)
    if not hasattr(method, "points"):
        return method
    return dataclasses.replace(method, points=_points(settings.get("measurement"), arrays))


def predictions(posterior: Model, x: np.ndarray) -> list[CategoricalPredictive]:
    """The distribution of the label at each image, in blocks of images."""
    starts = range(0, len(x), BLOCK)
    found = [posterior.predict(x[start : start + BLOCK]) for start in starts]
    return cast(list[CategoricalPredictive], found)


def entropies(found: list[CategoricalPredictive]) -> np.ndarray:
    """How unsure of the label predictions are at each image, in nats."""
    return np.concatenate([np.asarray(predictive.entropy) for predictive in found])


def _all_images(arrays: Arrays) -> np.ndarray:
    """The training images, or the others of a partial data set that has none."""
    return arrays["x_train"] if "x_train" in arrays else arrays["x_test"]


def _part(pixels: np.ndarray, labels: np.ndarray, arrays: Arrays, rows: np.ndarray) -> Data:
    # One copy as numbers, which training and everybody else share.
    return Data(jnp.asarray(standardized(pixels[rows], arrays)), labels[rows].astype(np.int32))


def _with_network(settings: dict[str, Any]) -> dict[str, Any]:
    return settings | {"network": {"name": "cnn", **settings.get("network", {})}}


def _points(measurement: str | None, arrays: dict[str, Arrays]) -> AbstractPoints:
    if measurement == "random":
        return Mixture((BatchRows(13), UniformBox(12)))
    if measurement == "random_pixel":
        return RandomPixel(25)
    if measurement == POOL:
        pool = arrays[POOL]
        return Rows(x=jnp.asarray(standardized(_all_images(pool), pool)), num_points=20)
    raise ExperimentError(
        f"expected measurement to be one of {', '.join(MEASUREMENTS)} for a method that compares "
        f"at points; got {measurement!r}."
    )


def _prior(method: AbstractMethod, data: Data, settings: dict[str, Any], key: Any) -> Model:
    likelihood = Categorical(NUM_CLASSES, pseudo_count=settings.get("pseudo_count", 0.01))
    return prior_for(method, data, settings, key, likelihood)
