"""What a page shows of a workspace: functions before data, and after."""

import dataclasses
import time
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from gfsvi.kernels import AbstractKernel
from gfsvi.plain.composed import RememberingKernel
from gfsvi.plain.kernels import KernelInNumpy
from gfsvi.report.predictions import HALF_WIDTH_95
from gfsvi.studio.building import grid_of, kernel_of, plain_kernel
from gfsvi.studio.network import network_posterior
from gfsvi.studio.wording import sentences_of
from gfsvi.studio.workspace import Workspace

NUM_POINTS, NUM_POINTS_AT_REST = 300, 500
"""Along the axis, while a slider is dragged and when it is let go."""
JITTER = 1e-9


@dataclasses.dataclass(frozen=True)
class Drawn:
    """A random function along an axis, in standardised units: mean, covariance and draws."""

    mean: np.ndarray
    cov: np.ndarray
    white: np.ndarray

    @property
    def std(self) -> np.ndarray:
        """The standard deviation at each point."""
        return np.sqrt(np.maximum(np.diagonal(self.cov), 0))

    @property
    def draws(self) -> np.ndarray:
        """Functions (draw, point), which move smoothly with mean and covariance."""
        return self.mean + self.white @ stable_factor(self.cov).T

    def on_scale_of(self, workspace: Workspace, noise: bool) -> dict[str, Any]:
        """Bands and draws in the units of the target."""
        scale, half = workspace.scale, HALF_WIDTH_95 * self.std
        found = {
            "mean": self.mean,
            "low": self.mean - half,
            "high": self.mean + half,
            "draws": self.draws,
        }
        if noise:
            spread = workspace.noise / scale.target_spread
            wide = HALF_WIDTH_95 * np.sqrt(self.std**2 + spread**2)
            found |= {"low_observed": self.mean - wide, "high_observed": self.mean + wide}
        return {name: numbers(scale.values(values)) for name, values in found.items()}


def look(workspace: Workspace, *, at_rest: bool) -> dict[str, Any]:
    """Everything that the pictures of a function show."""
    began = time.perf_counter()
    num_points = NUM_POINTS_AT_REST if at_rest else NUM_POINTS
    along, features = grid_of(workspace, num_points)
    x = workspace.scale.inputs(features)
    kernel = kernel_of(workspace)
    plain, white = RememberingKernel(plain_kernel(kernel)), white_noise(workspace, len(along))
    prior = Drawn(np.zeros(len(x)), plain.gram(x), white)
    shown: dict[str, Any] = {
        "along": numbers(along),
        "prior": prior.on_scale_of(workspace, noise=False),
        "sentences": sentences_of(workspace, kernel, plain, x),
        "centre": workspace.scale.target_centre,
    }
    if len(workspace.x):
        shown |= _after_data(workspace, kernel, plain, x, white, at_rest)
    return shown | {"milliseconds": round(1000 * (time.perf_counter() - began), 1)}


def _after_data(
    workspace: Workspace,
    kernel: AbstractKernel,
    plain: KernelInNumpy,
    x: np.ndarray,
    white: np.ndarray,
    at_rest: bool,
) -> dict[str, Any]:
    rows = workspace.scale.inputs(workspace.x)
    y, noise = workspace.scale.targets(workspace.y), workspace.noise / workspace.scale.target_spread
    exact, evidence = exact_posterior(plain, rows, y, noise, x)
    mean, cov = network_posterior(
        workspace, kernel, plain, rows, y, x, num_steps=60 if at_rest else 0
    )
    before = np.maximum(plain.diagonal(x), 1e-300)
    novelty = np.clip(np.diagonal(exact[1]) / before, 0, 1)
    return {
        "exact": Drawn(*exact, white).on_scale_of(workspace, noise=True),
        "network": Drawn(mean, cov, white).on_scale_of(workspace, noise=True),
        "novelty": numbers(novelty),
        "evidence": round(evidence / len(y), 4),
        "is_trained": at_rest,
    }


def exact_posterior(
    kernel: KernelInNumpy, rows: np.ndarray, y: np.ndarray, noise: float, x: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], float]:
    """Mean and covariance at `x` of the process given rows, and the log evidence of these."""
    gram = kernel.gram(rows)
    gram[np.diag_indices_from(gram)] += noise**2
    factor = stable_factor(gram)
    cross = kernel.cross(rows, x)
    weights = cho_solve((factor, True), y, check_finite=False)
    explained = solve_triangular(factor, cross, lower=True, check_finite=False)
    evidence = -0.5 * float(y @ weights) - float(np.sum(np.log(np.diagonal(factor))))
    evidence -= 0.5 * len(y) * np.log(2 * np.pi)
    return (cross.T @ weights, kernel.gram(x) - explained.T @ explained), evidence


def stable_factor(cov: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor; as much is added to the diagonal as rounding asks for."""
    size = float(np.mean(np.diagonal(cov))) or 1.0
    for jitter in JITTER * 10.0 ** np.arange(0, 8, 2):
        try:
            added = np.array(cov, order="F")
            added[np.diag_indices_from(added)] += jitter * size
            return cholesky(added, lower=True, check_finite=False, overwrite_a=True)
        except LinAlgError:
            continue
    raise ValueError(
        "expected a prior that arithmetic can follow; got one whose covariance is not positive. "
        "Use shorter length scales or more noise."
    )


def white_noise(workspace: Workspace, num_points: int) -> np.ndarray:
    """Standard normal numbers (draw, point), the same for every position of the sliders."""
    random = np.random.default_rng(workspace.view.seed)
    return random.normal(size=(workspace.view.num_draws, num_points))


def numbers(values: np.ndarray) -> list[Any]:
    """Numbers for the page, with as many digits as a picture can show."""
    size = float(np.max(np.abs(values))) if values.size else 0.0
    if not np.isfinite(size):
        raise ValueError(
            "expected finite function values; got others. Move the sliders to moderate numbers."
        )
    digits = 5 - int(np.floor(np.log10(size))) if size > 0 else 0
    return np.round(values, min(digits, 300)).tolist()
