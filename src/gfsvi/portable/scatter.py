"""How observations scatter around the function, in portable operations."""

import dataclasses

import numpy as np

from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.likelihoods.noise_function import LARGEST_LOG, NoiseFunction
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.portable.kernels import TINY, NotPortable, squared_distances
from gfsvi.portable.ops import AbstractOps, Tensor
from gfsvi.predictives.warp import AbstractWarp, Bounded, Unwarped, Warp

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclasses.dataclass(frozen=True)
class Scatter:
    """A likelihood that is normal, or Student's t, on some scale; arrays have one per output.

    Args:
        noise: The noise level.
        factor: The noise as a function of the row, relative to its level.
        degrees_of_freedom: Of Student's t; infinite for normal tails.
        spread: A factor on the standard deviations of function and noise.
        warp: The scale on which observations scatter.
    """

    noise: np.ndarray
    factor: NoiseFunction | None
    degrees_of_freedom: np.ndarray
    spread: np.ndarray
    warp: AbstractWarp

    @classmethod
    def of(cls, likelihood: AbstractLikelihood, num_outputs: int) -> "Scatter":
        """The scatter of a likelihood; raises if it is not normal on any scale."""
        if not isinstance(likelihood, Normal | WarpedNormal | AdaptiveNormal):
            raise NotPortable(f"the likelihood {type(likelihood).__name__}")
        adaptive = isinstance(likelihood, AdaptiveNormal)
        freedom = likelihood.degrees_of_freedom if adaptive else np.inf
        spread = likelihood.spread if adaptive else 1.0
        numbers = (np.ravel(part) for part in (likelihood.noise, freedom, spread))
        noise, freedom, spread = (
            np.broadcast_to(np.asarray(part, np.float64), num_outputs) for part in numbers
        )
        warp = Unwarped() if isinstance(likelihood, Normal) else likelihood.warp
        factor = likelihood.factor if isinstance(likelihood, AdaptiveNormal) else None
        return cls(noise, factor, freedom, spread, warp)

    def inflation(self, output: int) -> float:
        """The standard deviation in units of the scale of Student's t."""
        freedom = float(self.degrees_of_freedom[output])
        return 1.0 if np.isinf(freedom) else float(np.sqrt(freedom / (freedom - 2)))

    def widening(self, output: int) -> float:
        """By how much standard deviations are larger than those of function and noise."""
        return float(self.spread[output]) * self.inflation(output)

    def noise_variance(self, ops: AbstractOps, x: Tensor, output: int) -> Tensor:
        """The variance of the noise at each row on the scale of the function, (..., row, 1)."""
        level = ops.constant(np.full((1, 1), self.noise[output] ** 2))
        if self.factor is None:
            return ops.total(x * ops.constant(0.0)) + level
        factor = self.factor
        lengths = np.asarray(factor.lengthscale, np.float64)[None]
        points = np.asarray(factor.points, np.float64)
        squared = squared_distances(ops, x, ops.constant(points), lengths)
        bumps = ops.exp(ops.maximum(squared, ops.constant(0.0)) * ops.constant(-0.5))
        heights = np.asarray(factor.coefficients, np.float64)[output][:, None]
        logs = ops.clipped(bumps @ ops.constant(heights), -LARGEST_LOG, LARGEST_LOG)
        return ops.exp(logs * ops.constant(2.0)) * level

    def observed(self, ops: AbstractOps, values: Tensor, output: int) -> Tensor:
        """From the scale of the function to that of the model's observations."""
        return _unwarped(ops, self.warp, values, output)

    def warped(self, ops: AbstractOps, y: Tensor, output: int) -> Tensor:
        """From the scale of the model's observations to that of the function."""
        return _warped(ops, self.warp, y, output)

    def moments(
        self, ops: AbstractOps, mean: Tensor, variance: Tensor, noise: Tensor, output: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The mean of an observation, the variance of that mean, and that around it.

        Sums over 21 x 21 nodes of function and noise, as in `predictives.warped`; each argument is
        (..., row, 1).
        """
        if isinstance(self.warp, Unwarped):
            return mean, variance, noise
        of_function, of_noise = (grid.reshape(1, -1) for grid in np.meshgrid(_NODES, _NODES))
        moved = ops.sqrt(variance) * ops.constant(of_function)
        values = mean + moved + ops.sqrt(noise) * ops.constant(of_noise)
        observed = self.observed(ops, values, output)
        # From the grid, whose rows have the nodes of the noise, to nodes of the function.
        gathered = ops.constant(np.kron(_WEIGHTS[:, None], np.eye(len(_NODES))))
        weights = ops.constant(_WEIGHTS[:, None])
        means = observed @ gathered
        expected = means @ weights
        around, away = observed - means @ ops.constant(np.tile(np.eye(21), 21)), means - expected
        scatter = ((around * around) @ gathered) @ weights
        return expected, (away * away) @ weights, scatter


def _unwarped(ops: AbstractOps, warp: AbstractWarp, values: Tensor, output: int) -> Tensor:
    if isinstance(warp, Unwarped):
        return values
    if isinstance(warp, Bounded):
        inner = _unwarped(ops, warp.warp, values, output)
        return ops.clipped(inner, _of(warp.least, output), _of(warp.most, output))
    if not isinstance(warp, Warp):
        raise NotPortable(f"the warp {type(warp).__name__}")
    centre, stretch = _of(warp.centre, output), _of(warp.stretch, output)
    low, high = (
        float(np.arcsinh((_of(end, output) - centre) / stretch)) for end in (warp.low, warp.high)
    )
    u = values * ops.constant(_of(warp.unit, output)) + ops.constant(_of(warp.offset, output))
    inside = ops.clipped(u, low, high)
    up, down = ops.exp(inside), ops.exp(-inside)
    half = ops.constant(0.5)
    grown = (up - down) * half + (u - inside) * ((up + down) * half)
    return grown * ops.constant(stretch) + ops.constant(centre)


def _warped(ops: AbstractOps, warp: AbstractWarp, y: Tensor, output: int) -> Tensor:
    if isinstance(warp, Unwarped):
        return y
    if isinstance(warp, Bounded):
        return _warped(ops, warp.warp, y, output)
    if not isinstance(warp, Warp):
        raise NotPortable(f"the warp {type(warp).__name__}")
    stretch, one = ops.constant(_of(warp.stretch, output)), ops.constant(1.0)
    inside = ops.clipped(y, _of(warp.low, output), _of(warp.high, output))
    z = (inside - ops.constant(_of(warp.centre, output))) / stretch
    root, size = ops.sqrt(z * z + one), ops.maximum(z, -z)
    # arcsinh of |z|, whose sign is that of z: no cancellation for large negative numbers
    u = ops.log(size + root) * (z / ops.maximum(size, ops.constant(TINY)))
    u = u + (y - inside) / (root * stretch)
    offset, unit = _of(warp.offset, output), _of(warp.unit, output)
    return (u - ops.constant(offset)) / ops.constant(unit)


def _of(parameter: object, output: int) -> float:
    numbers = np.ravel(np.asarray(parameter, np.float64))
    return float(numbers[output if len(numbers) > 1 else 0])
