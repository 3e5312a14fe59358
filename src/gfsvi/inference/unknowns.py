"""What the evidence of a Gaussian process is maximised over, as one vector of numbers.

The parameters of the kernel that are not known, noise if the likelihood has any, and the warp of
the targets if it has one. Positive numbers are represented by their logarithms.
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
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.kernels.one_of import OneOf
from gfsvi.likelihoods.base import AbstractLikelihood, has_noise
from gfsvi.likelihoods.negative_binomial import NegativeBinomial
from gfsvi.likelihoods.normal import Normal
from gfsvi.likelihoods.warped_normal import WarpedNormal
from gfsvi.numerics.constraints import is_learnable
from gfsvi.plain.evidence import Slopes, log_evidence
from gfsvi.plain.kernels import PlainKernel
from gfsvi.predictives.base import library_layout
from gfsvi.predictives.warp import Warp

JITTER = 1e-8
REACH, REACH_OF_VARIANCE = 8.0, 5.0
"""In units of a logarithm: the variance changes by at most a factor of about 150."""
_WARP = ("centre", "stretch", "offset", "unit")
_POSITIVE = ("stretch", "unit")


def is_in_numpy(model: GPModel, x: np.ndarray) -> bool:
    """Whether the evidence of this model is in NumPy."""
    likelihood = model.likelihood
    known = _scatter_of(likelihood) is not None or not has_noise(likelihood)
    is_plain = isinstance(model.function.mean, Zero) and np.ndim(x) == 2
    has_kernel = kernel_in_numpy(model.function.kernel) is not None
    return known and likelihood.has_gaussian_targets and is_plain and has_kernel


def _scatter_of(likelihood: AbstractLikelihood) -> str | None:
    """The name of the one parameter that says how observations scatter, if NumPy can learn it."""
    if isinstance(likelihood, Normal | WarpedNormal):
        return "noise"
    return "dispersion" if isinstance(likelihood, NegativeBinomial) else None


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
        parts = [np.log(np.asarray(leaf, np.float64)) for leaf in self._learned]
        likelihood = self.model.likelihood
        if (name := _scatter_of(likelihood)) is not None:
            parts.append(np.log(getattr(likelihood, name)))
        if self._warp is not None:
            parts += [_free(self._warp, name) for name in _WARP]
        return np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in parts])

    @property
    def bounds(self) -> np.ndarray:
        """How far the parameters may move from here, (parameter, 2).

        The evidence of a few hundred smooth rows hardly falls as variance and length scales grow
        together, until covariances cannot be factorised.
        """
        start = self.start
        reach = np.full(len(start), REACH)
        for name, place, _ in self._places:
            if name.endswith("variance"):
                reach[place] = REACH_OF_VARIANCE
        return np.stack([start - reach, start + reach], axis=1)

    def loss(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the log evidence, and what is thought of length scales, per row; its gradient."""
        kernel, noise, warp = self._split(vector)
        values, noise_variance, log_factor = self._targets(noise, warp)
        plain = cast(PlainKernel, kernel_in_numpy(kernel))
        try:
            spread = (noise_variance + JITTER) / self.weights
            value, slopes = log_evidence(plain, self.x, values, spread)
        except np.linalg.LinAlgError:  # makes the line search step back
            return np.inf, np.zeros_like(vector)
        gradient = self._gradient(slopes, noise, noise_variance, warp)
        if self.lengths is not None:
            for place, num_features in self._length_places:
                log_density, slope = self.lengths.log_density(vector[place], num_features)
                value += log_density
                gradient[place] += slope
        return -(value + log_factor) / len(self.x), -gradient / len(self.x)

    def at(self, vector: np.ndarray) -> GPModel:
        """The model with these parameters."""
        kernel, noise, warp = self._split(vector)
        likelihood: Any = self.model.likelihood
        if noise is not None and (name := _scatter_of(likelihood)) is not None:
            shape = np.shape(getattr(likelihood, name))
            likelihood = dataclasses.replace(likelihood, **{name: noise.reshape(shape)})
        if warp is not None:
            whole = likelihood.warp.with_learned(warp)
            likelihood = dataclasses.replace(likelihood, warp=whole)
        function = dataclasses.replace(self.model.function, kernel=kernel)
        return type(self.model)(function, likelihood)

    @property
    def _kernel(self) -> AbstractKernel:
        kernel = self.model.function.kernel
        return kernel.kernel if isinstance(kernel, OneOf) else kernel

    @property
    def _learned(self) -> list[np.ndarray]:
        """The parameters of the kernel that are not known."""
        return [leaf for leaf in jax.tree.leaves(self._kernel) if is_learnable(leaf)]

    @property
    def _places(self) -> list[tuple[str, slice, tuple[int, ...]]]:
        """Where each parameter of the kernel is in a vector, by its path, and its shape."""
        places, begin = [], 0
        for path, leaf in jax.tree_util.tree_leaves_with_path(self._kernel):
            if is_learnable(leaf):
                end = begin + np.size(leaf)
                places.append((jax.tree_util.keystr(path), slice(begin, end), np.shape(leaf)))
                begin = end
        return places

    @property
    def _length_places(self) -> list[tuple[slice, int]]:
        """Length scales of features, one of each or one of all, and the number of features.

        A length scale of a single feature in a kernel that is made of others is free.
        """
        return [
            (place, int(np.prod(shape)) if shape else self.x.shape[1])
            for name, place, shape in self._places
            if name == ".lengthscale" or (name.endswith(".lengthscale") and shape)
        ]

    @property
    def _columns(self) -> np.ndarray:
        return np.asarray(library_layout(np.asarray(self.y, np.float64)))

    @property
    def _warp(self) -> Warp | None:
        likelihood = self.model.likelihood
        return likelihood.warp.learned if isinstance(likelihood, WarpedNormal) else None

    def _split(self, vector: np.ndarray) -> tuple[AbstractKernel, np.ndarray | None, Warp | None]:
        """The kernel, the noise and the warp that a vector stands for."""
        leaves, structure = jax.tree.flatten(self._kernel)
        rest = vector
        for number, leaf in enumerate(leaves):
            if is_learnable(leaf):
                own, rest = np.split(rest, [np.size(leaf)])
                leaves[number] = np.exp(own).reshape(np.shape(leaf))
        kernel = jax.tree.unflatten(structure, leaves)
        if (name := _scatter_of(self.model.likelihood)) is None:
            return kernel, None, None
        noise, rest = np.split(rest, [np.size(getattr(self.model.likelihood, name))])
        if self._warp is None:
            return kernel, np.exp(noise), None
        fields = dict(zip(_WARP, np.split(rest, len(_WARP)), strict=True))
        bent = {n: np.exp(v) if n in _POSITIVE else v for n, v in fields.items()}
        return kernel, np.exp(noise), dataclasses.replace(self._warp, **bent)

    def _targets(
        self, noise: np.ndarray | None, warp: Warp | None
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """Targets and noise variances (output, row), and the log slope of the warp."""
        likelihood = self.model.likelihood
        if noise is None or isinstance(likelihood, NegativeBinomial):
            if noise is not None:
                likelihood = dataclasses.replace(likelihood, dispersion=noise)
            targets = likelihood.gaussian_targets(self.y, self.model.function.outputs)
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
        noise: np.ndarray | None,
        noise_variance: np.ndarray,
        warp: Warp | None,
    ) -> np.ndarray:
        leaves = jax.tree.leaves(self._kernel)
        pairs = zip(leaves, slopes.kernel, strict=True)
        parts = [np.ravel(slope) for leaf, slope in pairs if is_learnable(leaf)]
        if noise is not None:
            # The variance is noise^2 + jitter, or one over the count + dispersion + jitter.
            is_count = isinstance(self.model.likelihood, NegativeBinomial)
            moved = noise[:, None] if is_count else 2 * noise_variance
            by_noise = slopes.noise_variance * moved / (noise_variance + JITTER)
            by_output = by_noise.sum(axis=1)
            parts.append([by_output.sum()] if len(noise) == 1 else by_output)
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
