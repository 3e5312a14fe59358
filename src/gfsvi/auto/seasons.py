"""Trend and seasons of a column of dates, as kernels of a prior."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import cast

import numpy as np

from gfsvi.auto.units import Feature, in_model_units
from gfsvi.covariances.closed_form import ClosedForm
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.measurement import NUM_BOX_POINTS
from gfsvi.kernels.base import AbstractKernel, ActiveDimensions, Sum
from gfsvi.kernels.constant import Constant
from gfsvi.kernels.integrated_brownian import IntegratedBrownian
from gfsvi.kernels.linear import Linear
from gfsvi.kernels.locally_periodic import LocallyPeriodic
from gfsvi.kernels.matern12 import Matern12
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.numerics import quantities
from gfsvi.points import FixedPoints, Mixture, UniformBox

PERIODS = ("1 day", "1 week", "1 year")
FEWEST_PERIODS = 1.5
"""Of which dates have to cover this many."""
FEWEST_PER_PERIOD = 3
"""The number of dates in a period, if they are at their median distance."""
FEWEST_DATES = 20
NUM_FUTURE_POINTS = 100


def time_kernels(
    kernel: object, features: Sequence[Feature], x: np.ndarray
) -> tuple[ActiveDimensions, ...]:
    """Kernels of dates to choose from: a trend, and seasons that the dates can show.

    A trend that goes on as it was last, and what is left of a disturbance for a while; then the
    same with seasons, all of them, and all but one.

    Args:
        kernel: What the user asked for; anything but "auto" is left as it is.
        features: The features, of which the first that is a date is used.
        x: Rows of features, not standardised: dates are days.
    """
    place = next((i for i, feature in enumerate(features) if feature.is_date), None)
    if place is None or not isinstance(kernel, str) or kernel != "auto":
        return ()
    days = np.unique(np.asarray(x)[:, place])
    if len(days) < FEWEST_DATES:
        return ()
    of_dates = (features[place],)
    seasons = [
        in_model_units(LocallyPeriodic(2.0, 0.1, period=period), of_dates)
        for period in shown_periods(days)
    ]
    trend = Constant() + Linear() + IntegratedBrownian(0.1) + Matern12(0.1, 0.1)
    counts = sorted({0, len(seasons) - 1, len(seasons)} & set(range(len(seasons) + 1)))
    chosen = [some for count in counts for some in itertools.combinations(seasons, count)]
    return tuple(sum(some, start=trend).on(place) for some in chosen)


def shown_periods(days: np.ndarray) -> tuple[str, ...]:
    """The periods that dates, sorted and different, cover and are close enough to show."""
    span, gap = np.ptp(days), np.median(np.diff(days))
    lengths = {period: quantities.parsed(period).days for period in PERIODS}
    return tuple(
        period
        for period, length in lengths.items()
        if span >= FEWEST_PERIODS * length and FEWEST_PER_PERIOD * gap <= length
    )


def part_of_time(kernel: AbstractKernel) -> ActiveDimensions | None:
    """The part of a prior's kernel that `time_kernels` made, if it has one."""
    terms = kernel.terms if isinstance(kernel, Sum) else (kernel,)
    for term in terms:
        inner = term.kernel if isinstance(term, ActiveDimensions) else None
        if isinstance(inner, Sum) and any(isinstance(t, IntegratedBrownian) for t in inner.terms):
            return cast(ActiveDimensions, term)
    return None


def with_future(
    method: AbstractMethod,
    prior: AbstractRandomFunction,
    x: np.ndarray,
    features: Sequence[Feature],
) -> AbstractMethod:
    """The method with measurement points as far after the last date as the first is before it.

    A network does not know how trend and seasons go on; at measurement points the prior says it.
    """
    if not isinstance(method, GFSVI) or not isinstance(method.covariance, ClosedForm):
        return method
    part = part_of_time(prior.kernel) if isinstance(prior, GaussianProcess) else None
    if part is None:
        return method
    (place,) = part.columns
    box = UniformBox(NUM_BOX_POINTS) if method.points is None else method.points
    future = FixedPoints(_later(np.asarray(x, np.float64), place, features[place].spread))
    return dataclasses.replace(method, points=Mixture((box, future)))


def _later(x: np.ndarray, place: int, spread: float) -> np.ndarray:
    """Some rows, later by whole weeks, or days: at hours and days of the week that occur."""
    order = np.argsort(x[:, place], kind="stable")
    chosen = order[np.linspace(0, len(x) - 1, min(len(x), NUM_FUTURE_POINTS)).astype(int)]
    span = np.ptp(x[:, place]) * spread
    unit = 7.0 if span > 7.0 else 1.0
    later = x[chosen]
    later[:, place] += unit * np.ceil(span / unit) / spread
    return later
