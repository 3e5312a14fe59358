"""What the evidence of a Gaussian process is maximised over, as one vector of numbers.

A stationary kernel, noise if the likelihood has any, and the warp of the targets if it has one.
Positive numbers are represented by their logarithms.
"""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import dataclasses
from typing import Any, NamedTuple, cast

import jax
import numpy as np

from gfsvi.functions.means import Zero
from gfsvi.inference.length_prior import LengthPrior
from gfsvi.inference.models import GPModel
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.kernels.one_of import OneOf
from gfsvi.kernels.stationary import AbstractStationaryKernel
from gfsvi.likelihoods.base import has_noise
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.plain.evidence import Slopes, log_evidence
from gfsvi.plain.kernels import StationaryKernel
from gfsvi.predictives.base import library_layout
from gfsvi.predictives.warp import Warp

JITTER = 1e-8
REACH, REACH_OF_VARIANCE = 8.0, 5.0
"""In units of a logarithm: the variance changes by at most a factor of about 150."""
_WARP = ("centre", "stretch", "offset", "unit")
_POSITIVE = ("stretch", "unit")


def is_in_numpy(model: GPModel, x: np.ndarray) -> bool:
    """Whether the evidence of this model, all of whose parameters are unknown, is in NumPy."""
    likelihood = model.likelihood
    known = isinstance(likelihood, Normal | WarpedNormal) or not has_noise(likelihood)
    is_plain = isinstance(model.function.mean, Zero) and np.ndim(x) == 2
    kernel = model.function.kernel
    is_free = not any(isinstance(leaf, float) for leaf in jax.tree.leaves(kernel))
    has_kernel = is_free and kernel_in_numpy(kernel) is not None
    return known and likelihood.has_gaussian_targets and is_plain and has_kernel


class Unknowns(NamedTuple):
    """Rows, and a model whose parameters are unknown.

    Weights, of mean one, say which rows count more than others; all together count as they are.
    `lengths` is what is thought of length scales; None for the evidence alone.
    """

    model: GPModel
    x: np.ndarray
    y: np.ndarray
    weights: np.ndarray | float = 1.0
    lengths: LengthPrior | None = None

    @property
    def start(self) -> np.ndarray:
        """The parameters of the model, as a vector."""
        kernel, likelihood = self._kernel, self.model.likelihood
        parts = [np.log(kernel.lengthscale), np.log(kernel.variance)]
        if self._has_noise:
            parts.append(np.log(likelihood.noise))
        if self._warp is not None:
            parts += [_free(self._warp, name) for name in _WARP]
        return np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in parts])

    @property
    def bounds(self) -> np.ndarray:
        """How far the parameters may move from here, (parameter, 2).

        The evidence of a few hundred smooth rows hardly falls as variance and length scales grow
        together, until covariances cannot be factorised.
        """
        start, position = self.start, np.size(self._kernel.lengthscale)
        reach = np.full(len(start), REACH)
        reach[position] = REACH_OF_VARIANCE
        return np.stack([start - reach, start + reach], axis=1)

    def loss(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the log evidence, and what is thought of length scales, per row; its gradient."""
        lengthscale, variance, noise, warp = self._split(vector)
        values, noise_variance, log_factor = self._targets(noise, warp)
        correlation = cast(StationaryKernel, kernel_in_numpy(self._kernel)).correlation
        widths = np.broadcast_to(lengthscale, self.x.shape[1:])
        try:
            spread = (noise_variance + JITTER) / self.weights
            value, slopes = log_evidence(correlation, self.x, values, widths, variance, spread)
        except np.linalg.LinAlgError:  # makes the line search step back
            return np.inf, np.zeros_like(vector)
        gradient = self._gradient(slopes, lengthscale, noise_variance, warp)
        if self.lengths is not None:
            count = len(lengthscale)
            log_density, slope = self.lengths.log_density(vector[:count], self.x.shape[1])
            value += log_density
            gradient[:count] += slope
        return -(value + log_factor) / len(self.x), -gradient / len(self.x)

    def at(self, vector: np.ndarray) -> GPModel:
        """The model with these parameters."""
        lengthscale, variance, noise, warp = self._split(vector)
        shape = np.shape(self._kernel.lengthscale)
        kernel = dataclasses.replace(
            self._kernel, lengthscale=lengthscale.reshape(shape), variance=np.array(variance)
        )
        likelihood: Any = self.model.likelihood
        if noise is not None:
            likelihood = dataclasses.replace(
                likelihood, noise=noise.reshape(np.shape(likelihood.noise))
            )
        if warp is not None:
            whole = likelihood.warp.with_learned(warp)
            likelihood = dataclasses.replace(likelihood, warp=whole)
        function = dataclasses.replace(self.model.function, kernel=kernel)
        return type(self.model)(function, likelihood)

    @property
    def _kernel(self) -> AbstractStationaryKernel:
        kernel = self.model.function.kernel
        chosen = kernel.kernel if isinstance(kernel, OneOf) else kernel
        return cast(AbstractStationaryKernel, chosen)

    @property
    def _columns(self) -> np.ndarray:
        return np.asarray(library_layout(np.asarray(self.y, np.float64)))

    @property
    def _has_noise(self) -> bool:
        return isinstance(self.model.likelihood, Normal | WarpedNormal)

    @property
    def _warp(self) -> Warp | None:
        likelihood = self.model.likelihood
        return likelihood.warp.learned if isinstance(likelihood, WarpedNormal) else None

    def _split(
        self, vector: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray | None, Warp | None]:
        count = np.size(self._kernel.lengthscale)
        lengthscale, variance = np.exp(vector[:count]), float(np.exp(vector[count]))
        likelihood, rest = self.model.likelihood, vector[count + 1 :]
        if not self._has_noise:
            return lengthscale, variance, None, None
        count = np.size(likelihood.noise)
        noise, rest = np.exp(rest[:count]), rest[count:]
        if self._warp is None:
            return lengthscale, variance, noise, None
        fields = dict(zip(_WARP, np.split(rest, len(_WARP)), strict=True))
        bent = {n: np.exp(v) if n in _POSITIVE else v for n, v in fields.items()}
        return lengthscale, variance, noise, dataclasses.replace(self._warp, **bent)

    def _targets(
        self, noise: np.ndarray | None, warp: Warp | None
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Targets and noise variances (output, row), and the log slope of the warp."""
        if noise is None:
            outputs = self.model.function.outputs
            targets = self.model.likelihood.gaussian_targets(self.y, outputs)
            values, variance = map(np.asarray, targets[:2])
            return values, np.broadcast_to(variance, values.shape), 0.0
        values, log_factor = self._columns, 0.0
        if warp is not None:
            log_factor = float(np.sum(self.weights * warp.log_slope(values)))
            values = np.asarray(warp.forward(values))
        return values, np.broadcast_to(noise[:, None] ** 2, values.shape), log_factor

    def _gradient(
        self,
        slopes: Slopes,
        lengthscale: np.ndarray,
        noise_variance: np.ndarray,
        warp: Warp | None,
    ) -> np.ndarray:
        by_length = slopes.lengthscale if len(lengthscale) > 1 else [slopes.lengthscale.sum()]
        parts = [by_length, [slopes.variance]]
        if self._has_noise:
            # The variance is noise^2 + jitter.
            by_noise = 2 * slopes.noise_variance * noise_variance / (noise_variance + JITTER)
            by_output = by_noise.sum(axis=1)
            is_shared = np.size(self.model.likelihood.noise) == 1
            parts.append([by_output.sum()] if is_shared else by_output)
        if warp is not None:
            by_warp = _by_warp(warp, self._columns, slopes.targets, self.weights)
            parts += [part.sum(axis=1) for part in by_warp]
        return np.concatenate(parts)


def _free(warp: Warp, name: str) -> np.ndarray:
    value = np.ravel(np.asarray(getattr(warp, name), np.float64))
    return np.log(value) if name in _POSITIVE else value


def _by_warp(
    warp: Warp, y: np.ndarray, by_targets: np.ndarray, weights: np.ndarray | float
) -> list[np.ndarray]:
    """Derivatives by centre, log stretch, offset and log unit, (output, row) each.

    z = (arcsinh((y - c) / s) - o) / u has the slope 1 / (u h), h^2 = s^2 + (y - c)^2. Rows whose
    targets are learned from are never beyond the ends of the warp.
    """
    centre, stretch, offset, unit = (
        np.reshape(np.asarray(getattr(warp, name), np.float64), (-1, 1)) for name in _WARP
    )
    away = y - centre
    h = np.hypot(stretch, away)
    z = (np.arcsinh(away / stretch) - offset) / unit
    return [
        -by_targets / (unit * h) + weights * away / h**2,
        -by_targets * away / (unit * h) - weights * stretch**2 / h**2,
        -by_targets / unit,
        -by_targets * z - weights,
    ]
