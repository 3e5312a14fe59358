"""Noise, its shape and tails by rows that a function has not seen."""

import numpy as np
from scipy.optimize import OptimizeResult, minimize_scalar

from gfsvi.inference.adaptive_fit import common_width, with_shapes, with_tails
from gfsvi.inference.left_out import LARGEST_NOISE, SMALLEST_NOISE
from gfsvi.inference.noise_shape import LeftOut, fitted_shape, unseen_noise
from gfsvi.inference.resolution import rounding_noise
from gfsvi.inference.tails import Tails, most_probable_tails
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal

LEAST_WIDENING = 0.8
"""Of the function's standard deviation: rows near the others do not say how far off distant ones
may be, where the prior's has to come back."""


def noise_range(targets: np.ndarray) -> tuple[float, float]:
    """The least and the largest noise level of targets, on the scale of the function."""
    scale = float(np.std(targets)) or 1.0
    return max(SMALLEST_NOISE * scale, rounding_noise(targets)), LARGEST_NOISE * scale


def even_scatter(rows: LeftOut, within: tuple[float, float]) -> tuple[float, Tails, np.ndarray]:
    """The noise level and tails under which rows are most probable, and their log densities."""

    def densities(log_noise: float) -> tuple[Tails, np.ndarray]:
        total = rows.variances + np.exp(2 * log_noise)
        return most_probable_tails(rows.residuals, total, rows.weights, LEAST_WIDENING)

    def loss(log_noise: float) -> float:
        return -float(np.average(densities(log_noise)[1], weights=rows.weights))

    result: OptimizeResult = minimize_scalar(
        loss, bounds=tuple(np.log(within)), method="bounded", options={"xatol": 0.02}
    )
    noise = float(np.exp(result["x"]))
    tails, found = densities(result["x"])
    if tails.spread * noise < within[0]:
        noise = within[0] / tails.spread
        found = tails.log_densities(rows.residuals, rows.variances + noise**2)
    return noise, tails, found


def scatter_by(
    likelihood: AdaptiveNormal,
    rows: list[LeftOut],
    lengthscale: np.ndarray,
    within: list[tuple[float, float]],
) -> AdaptiveNormal:
    """The likelihood with noise, noise function and tails under which rows are most probable.

    Args:
        likelihood: The likelihood, whose warp stays.
        rows: Residuals and variances on the scale of the warp, one set of rows for each output.
        lengthscale: The length scales of the prior.
        within: The range of noise levels of each output.
    """
    found = [even_scatter(one, bounds) for one, bounds in zip(rows, within, strict=True)]
    noise, tails = np.array([one[0] for one in found]), [one[1] for one in found]
    width, varies = common_width(rows, lengthscale, noise, tails)
    chosen = with_tails(likelihood, tails, noise)
    if width is None:
        return chosen
    shapes = [
        fitted_shape(one, width * lengthscale, level, tail) if is_varying else None
        for one, level, tail, is_varying in zip(rows, noise, tails, varies, strict=True)
    ]
    chosen = with_shapes(chosen, shapes)
    # What was fitted to a row explains it if it is far off, and would hide heavy tails.
    given = zip(rows, noise, tails, varies, strict=True)
    unseen = [
        unseen_noise(one, width * lengthscale, level, tail) if is_varying else level
        for one, level, tail, is_varying in given
    ]
    tails = [
        most_probable_tails(
            one.residuals, one.variances + np.square(np.asarray(level)), one.weights, LEAST_WIDENING
        )[0]
        for one, level in zip(rows, unseen, strict=True)
    ]
    return with_tails(chosen, tails, np.asarray(chosen.noise))
