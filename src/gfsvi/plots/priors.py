"""Functions drawn from a prior."""

from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray
from numpy.typing import ArrayLike

from gfsvi.auto.kernel_text import kernel_of
from gfsvi.auto.units import Feature, in_model_units
from gfsvi.functions.base import AbstractRandomFunction, draw_values
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.kernels.adapters import as_kernel
from gfsvi.model import Model
from gfsvi.numerics.extras import check_extra
from gfsvi.numerics.precision import double

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND, LINES = "#0072b2", "#d55e00"


def plot_prior(
    prior: Any,
    x: ArrayLike,
    *,
    num_samples: int = 5,
    key: PRNGKeyArray | None = None,
    axes: "Axes | None" = None,
) -> "Axes":
    """Draw functions from a prior: what it says before any data.

    Args:
        prior: A kernel of any library or as text, a random function, or a model.
        x: Points along one axis, (point,) or (point, 1): numbers, or dates. Distances given as
            text are in their units: `plot_prior(Periodic(period="1 year"), dates)`.
        num_samples: The number of functions to draw.
        key: A random key; the same key gives the same functions.
        axes: Where to draw; None for a new figure.

    Returns:
        The axes: the mean, two standard deviations around it, and the functions.
    """
    check_extra("plots", "plot_prior")
    import matplotlib.pyplot as plt

    along, is_date = _axis(x)
    rows = _days(along) if is_date else np.asarray(along, np.float64)
    function = _function_of(prior, Feature("x", "x", 1.0, is_date))
    mean, std, draws = _drawn(function, rows[:, None], num_samples, key)
    axes = plt.subplots()[1] if axes is None else axes
    axes.fill_between(along, mean - 2 * std, mean + 2 * std, color=BAND, alpha=0.15, linewidth=0)
    axes.plot(along, mean, color=BAND, linestyle="--", label="mean, two standard deviations")
    for number, draw in enumerate(draws):
        label = f"{num_samples} functions" if number == 0 else None
        axes.plot(along, draw, color=LINES, alpha=0.7, linewidth=1.2, label=label)
    axes.set(xlabel="x", ylabel="f(x)")
    above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2}
    axes.legend(frameon=False, **above)
    return axes


def _axis(x: ArrayLike) -> tuple[np.ndarray, bool]:
    """Sorted points along one axis, and whether they are dates."""
    points = np.asarray(x)
    if points.ndim == 2 and points.shape[1] == 1:
        points = points[:, 0]
    if points.ndim != 1 or len(points) < 2:
        raise ValueError(
            f"plot_prior expects points along one axis, (point,) or (point, 1); got an array of "
            f"shape {points.shape}. For one of several features use kernel.on and its own values."
        )
    if points.dtype == object:  # datetime.date, say
        points = points.astype("datetime64[ms]")
    return np.sort(points), points.dtype.kind == "M"


def _days(dates: np.ndarray) -> np.ndarray:
    return (dates - dates[0]) / np.timedelta64(1, "D")


def _function_of(prior: Any, feature: Feature) -> AbstractRandomFunction:
    if isinstance(prior, Model):
        prior = prior.function
    if isinstance(prior, AbstractRandomFunction):
        return prior
    kernel = kernel_of(prior) if isinstance(prior, str) else as_kernel(prior)
    return GaussianProcess(in_model_units(kernel, (feature,)))


@double
def _drawn(
    function: AbstractRandomFunction, x: np.ndarray, num_samples: int, key: PRNGKeyArray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and standard deviation (point,) and draws (sample, point) of the first output."""
    key = jax.random.key(0) if key is None else key
    value_key, draw_key = jax.random.split(key)
    values = function.marginals(x, key=value_key)
    draws = draw_values(function, x, num_samples, key=draw_key)
    first = np.asarray(values.mean)[0], np.sqrt(np.asarray(values.variance)[0])
    return *first, np.asarray(draws)[:, 0]
