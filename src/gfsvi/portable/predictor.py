"""The predictor of a fit in portable operations."""

import dataclasses
from typing import Any

import numpy as np
from scipy import special

from gfsvi.auto.exporting import levels_of
from gfsvi.auto.fitted import Fitted
from gfsvi.auto.targets import Numbers
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.portable.kernels import NotPortable
from gfsvi.portable.numpy_ops import NumpyOps
from gfsvi.portable.ops import AbstractOps, Tensor
from gfsvi.portable.process import PortableProcess
from gfsvi.portable.scatter import Scatter


@dataclasses.dataclass(frozen=True)
class PortablePredictor:
    """What a fit predicts for rows of numbers.

    Args:
        process: The posterior on the standardised scale.
        scatter: How observations scatter around it.
        input_centre: What is subtracted from every row, (1, feature).
        input_spread: What every row is then divided by, (1, feature).
        centre: The origin of each target.
        spread: The unit of each target.
        levels: The probability of the interval of each target.
    """

    process: PortableProcess
    scatter: Scatter
    input_centre: np.ndarray
    input_spread: np.ndarray
    centre: np.ndarray
    spread: np.ndarray
    levels: np.ndarray

    @classmethod
    def of(cls, model: Fitted | Any, purpose: str) -> "PortablePredictor":
        """The predictor of a fitted estimator or a `Fitted`; raises if it has no portable form."""
        fitted: Fitted = getattr(model, "fitted_", model)
        try:
            return cls._of(fitted)
        except NotPortable as missing:
            raise ValueError(
                f"{purpose} expects numbers predicted by a single network with tanh, whose "
                f"posterior is in closed form; got {missing}. Fit `GFSVIRegressor` with "
                "prior_mean=None, members=1, its defaults for network and likelihood, and a kernel "
                "such as 'matern52'."
            ) from None

    @classmethod
    def _of(cls, fitted: Fitted) -> "PortablePredictor":
        function, target = getattr(fitted.posterior, "function", None), fitted.target
        if not isinstance(target, Numbers):
            raise NotPortable("a model of labels")
        if not isinstance(function, ConjugateNetwork):
            raise NotPortable(f"a posterior of the kind {type(function).__name__}")
        posterior = function.in_numpy
        if posterior is None:
            raise NotPortable("a network or kernel without a form in NumPy")
        process = PortableProcess(posterior)
        scatter = Scatter.of(fitted.posterior.likelihood, process.num_outputs)
        levels = levels_of(fitted)
        assert levels is not None
        width = posterior.points.shape[1]
        made = cls(
            process,
            scatter,
            np.broadcast_to(np.asarray(fitted.input_centre, np.float64), (1, width)),
            np.broadcast_to(np.asarray(fitted.input_spread, np.float64), (1, width)),
            np.ravel(np.asarray(target.centre, np.float64)),
            np.ravel(np.asarray(target.spread, np.float64)),
            levels,
        )
        # What has no portable form raises here, and not at the first prediction.
        made.predicted(NumpyOps(), np.zeros((1, width)), ())
        return made

    def standardized(self, ops: AbstractOps, x: Tensor) -> Tensor:
        """Rows on the model's scale."""
        return (x - ops.constant(self.input_centre)) / ops.constant(self.input_spread)

    def on_user_scale(self, ops: AbstractOps, values: Tensor, output: int) -> Tensor:
        """Observations on the user's scale, given those on the model's."""
        return values * ops.constant(self.spread[output]) + ops.constant(self.centre[output])

    def predicted(
        self, ops: AbstractOps, x: Tensor, quantiles: tuple[float, ...]
    ) -> list[dict[str, Tensor]]:
        """For each target what `gfsvi.export` writes, each (row, 1) or (row, quantile)."""
        rows = self.standardized(ops, x)
        seen = self.process.seen(ops, rows)
        return [self._output(ops, rows, seen, k, quantiles) for k in range(len(self.centre))]

    def _output(
        self, ops: AbstractOps, rows: Tensor, seen: Any, output: int, quantiles: tuple[float, ...]
    ) -> dict[str, Tensor]:
        wide = ops.constant(self.scatter.widening(output) ** 2)
        mean, unit = seen.means[output], ops.constant(self.spread[output])
        variance = self.process.variance(ops, seen, output) * wide
        noise = self.scatter.noise_variance(ops, rows, output) * wide
        scale = ops.sqrt(variance + noise) / ops.constant(self.scatter.inflation(output))
        expected, known, around = self.scatter.moments(ops, mean, variance, noise, output)
        freedom, level = self.scatter.degrees_of_freedom[output], self.levels[output]
        ends = ((1 - level) / 2, (1 + level) / 2)
        steps = _quantiles(np.array([*ends, *quantiles]), float(freedom))
        values = self.scatter.observed(ops, mean + scale * ops.constant(steps[None]), output)
        values = self.on_user_scale(ops, values, output)
        return {
            "mean": self.on_user_scale(ops, expected, output),
            "std": ops.sqrt(known + around) * unit,
            "epistemic_std": ops.sqrt(known) * unit,
            "lower": ops.columns(values, [0]),
            "upper": ops.columns(values, [1]),
            "quantiles": ops.columns(values, range(2, 2 + len(quantiles))),
        }


def _quantiles(probabilities: np.ndarray, freedom: float) -> np.ndarray:
    if np.isinf(freedom):
        return special.ndtri(probabilities)
    return special.stdtrit(freedom, probabilities)
