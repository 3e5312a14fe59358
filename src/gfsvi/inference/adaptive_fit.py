"""The closed-form posterior with noise, tails and a noise function chosen by left-out rows."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from gfsvi.data import Data, Rows
from gfsvi.functions.base import correlation_lengths
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.inference.conjugate import (
    Interpolation,
    Solution,
    Sums,
    posterior_of,
    solved,
    sums_over,
)
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.left_out import (
    LARGEST_LEVERAGE,
    MAX_ROWS,
    choices,
    left_of_prior,
    rows_to_leave_out,
)
from gfsvi.inference.noise_shape import (
    LeftOut,
    Shape,
    chosen_width,
    fitted_shape,
    unseen_noise,
)
from gfsvi.inference.tails import Tails, most_probable_tails
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.noise_function import NoiseFunction
from gfsvi.model import Model

MOST_OUTPUTS = 8
"""With more outputs the noise of each is even: a noise function takes a second per output."""
NUM_ROUNDS = 2
"""Of a noise function, and a function that is fitted with its noise."""


def adaptive_posterior(
    interpolation: Interpolation,
    model: Model,
    rows: Rows,
    sums: Sums,
    *,
    held_out: Data | None = None,
    stop: Callable[[], bool] | None = None,
) -> Model[ConjugateNetwork, AdaptiveNormal]:
    """The posterior under an `AdaptiveNormal`, all of whose scatter is chosen.

    Args:
        interpolation: The network and the prior at the measurement points.
        model: The prior and the likelihood.
        rows: The rows.
        sums: Sums over them for a noise of one.
        held_out: Rows to choose by; None to leave some of `rows` out.
        stop: Asked whether there is no time for a noise function, without which noise is even.
    """
    found = choices(interpolation, model, rows, sums, held_out=held_out, tails=most_probable_tails)
    step, near = found[0].step, found[0].near
    noise = np.array([choice.noise for choice in found])
    solution = solved(interpolation, sums.with_noise(noise, len(rows)))
    judged = _Judged.of(interpolation, model, rows.sample, held_out, near)
    even = np.broadcast_to(noise[:, None], judged.targets.shape)
    left_out = judged.left_out(solution, even, step)
    tails = [choice.tails for choice in found]
    likelihood = with_tails(model.likelihood, tails, noise)
    if judged.x.ndim > 2:  # noise is no function of pixels
        return Model(posterior_of(interpolation, solution, step=step, near=near), likelihood)
    lengthscale = np.ravel(np.asarray(correlation_lengths(interpolation.prior, rows.sample.x)))
    width, varies = common_width(left_out, lengthscale, noise, tails, stop)
    if width is None:
        return Model(posterior_of(interpolation, solution, step=step, near=near), likelihood)
    lengths = [width * lengthscale if is_varying else None for is_varying in varies]
    for number in range(NUM_ROUNDS):
        if number and stop is not None and stop():
            break
        likelihood = _with_noise_function(likelihood, left_out, noise, lengths)
        noisy = partial(targets_of, Model(interpolation.prior, likelihood))
        solution = solved(interpolation, sums_over(interpolation, rows, noisy))
        scatter = likelihood.at(judged.x).noise
        left_out = judged.left_out(solution, scatter, step)
        # With tails of other noise the next function would make up for the difference.
        likelihood = _with_tails_of(likelihood, left_out, scatter)
    scatter = _unseen_scatter(likelihood, left_out, noise, lengths, stop)
    likelihood = _with_tails_of(likelihood, left_out, scatter)
    return Model(posterior_of(interpolation, solution, step=step, near=near), likelihood)


def _with_noise_function(
    likelihood: AdaptiveNormal,
    left_out: list[LeftOut],
    noise: np.ndarray,
    lengths: list[np.ndarray | None],
) -> AdaptiveNormal:
    """The likelihood with a noise function of these length scales, begun at an even noise."""
    of_outputs = zip(left_out, noise, _tails(likelihood), lengths, strict=True)
    shapes = [
        None if length is None else fitted_shape(rows, length, level, tails)
        for rows, level, tails, length in of_outputs
    ]
    return with_shapes(with_tails(likelihood, _tails(likelihood), noise), shapes)


def _unseen_scatter(
    likelihood: AdaptiveNormal,
    left_out: list[LeftOut],
    noise: np.ndarray,
    lengths: list[np.ndarray | None],
    stop: Callable[[], bool] | None,
) -> list[np.ndarray]:
    """The noise at left-out rows of each output, without their own residuals if there is time."""
    scatter = list(likelihood.at(left_out[0].x).noise)
    of_outputs = zip(left_out, noise, _tails(likelihood), lengths, strict=True)
    for output, (rows, level, tails, length) in enumerate(of_outputs):
        found = None if length is None else unseen_noise(rows, length, level, tails, stop=stop)
        scatter[output] = scatter[output] if found is None else found
    return scatter


def _tails(likelihood: AdaptiveNormal) -> list[Tails]:
    """The tails of each output."""
    pairs = zip(likelihood.degrees_of_freedom, likelihood.spread, strict=True)
    return [Tails(float(freedom), float(spread)) for freedom, spread in pairs]


def _with_tails_of(
    likelihood: AdaptiveNormal, left_out: list[LeftOut], scatter: Sequence[np.ndarray] | np.ndarray
) -> AdaptiveNormal:
    """The likelihood with the most probable tails of left-out rows whose noise is this."""
    tails = [
        most_probable_tails(rows.residuals, rows.variances + noise**2, rows.weights)[0]
        for rows, noise in zip(left_out, scatter, strict=True)
    ]
    return with_tails(likelihood, tails, np.asarray(likelihood.noise))


class _Judged(NamedTuple):
    """Rows to judge by: targets and the network there, and how often each counts in the fit."""

    x: Float[np.ndarray, "row feature"]
    targets: Float[np.ndarray, "output row"]
    weights: Float[np.ndarray, " row"]
    counts: Float[np.ndarray, " row"]
    f: Float[np.ndarray, "output row"]
    basis: Float[np.ndarray, "output row point"]
    left: Float[np.ndarray, " row"]

    @classmethod
    def of(
        cls,
        interpolation: Interpolation,
        model: Model,
        data: Data,
        held_out: Data | None,
        near: float,
    ) -> "_Judged":
        few = rows_to_leave_out(data) if held_out is None else held_out.thinned(MAX_ROWS)
        x, weights = np.asarray(few.x, np.float64), np.asarray(few.row_weights)
        targets = np.asarray(targets_of(model, Data(few.x, few.y)).values)
        counts = weights if held_out is None else np.zeros(len(few))
        left = left_of_prior(interpolation, x).variance(near)
        return cls(x, targets, weights, counts, *interpolation.rows(x), left)

    def left_out(self, solution: Solution, noise: np.ndarray, step: float) -> list[LeftOut]:
        """For each output, residuals and variances of the function without the row itself."""
        moved = np.einsum("onm,om->on", self.basis, solution.shift)
        known = np.sum((self.basis @ solution.root) ** 2, axis=-1)
        kept = 1 - np.minimum(self.counts * known / noise**2, LARGEST_LEVERAGE)
        residuals = (self.targets - self.f - step * moved) / kept
        variances = known / kept + self.left
        return [
            LeftOut(self.x, r, v, self.weights) for r, v in zip(residuals, variances, strict=True)
        ]


def common_width(
    left_out: list[LeftOut],
    lengthscale: np.ndarray,
    noise: np.ndarray,
    tails: list[Tails],
    stop: Callable[[], bool] | None = None,
) -> tuple[float | None, list[bool]]:
    """The widest length scale that an output chooses, and which outputs choose one."""
    if len(left_out) > MOST_OUTPUTS:
        return None, []
    given = zip(left_out, noise, tails, strict=True)
    widths = [
        chosen_width(rows, lengthscale, level, tail, stop=stop) for rows, level, tail in given
    ]
    wanted = [width for width in widths if width is not None]
    return (max(wanted) if wanted else None), [width is not None for width in widths]


def with_tails(likelihood: AdaptiveNormal, tails: list[Tails], noise: np.ndarray) -> AdaptiveNormal:
    """The likelihood with this noise, and tails for each output."""
    return dataclasses.replace(
        likelihood,
        noise=noise,
        degrees_of_freedom=np.array([one.degrees_of_freedom for one in tails]),
        spread=np.array([one.spread for one in tails]),
    )


def with_shapes(likelihood: AdaptiveNormal, shapes: list[Shape | None]) -> AdaptiveNormal:
    """The likelihood with a noise function, which is even for outputs that have none."""
    some = next(shape for shape in shapes if shape is not None)
    rows = [np.zeros(len(some.points)) if one is None else one.coefficients for one in shapes]
    levels = [
        level if one is None else np.exp(one.log_noise)
        for one, level in zip(shapes, np.asarray(likelihood.noise), strict=True)
    ]
    factor = NoiseFunction(some.points, some.lengthscale, np.stack(rows))
    return dataclasses.replace(likelihood, noise=np.array(levels), factor=factor)
