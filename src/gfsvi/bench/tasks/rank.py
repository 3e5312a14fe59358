"""How many directions a posterior covariance has."""

from typing import Any

import jax
import numpy as np

from gfsvi.bench.building import build_kernel, build_method
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.bench.tasks.curve import GRID, fitted, observed
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.likelihoods.normal import Normal
from gfsvi.model import Model
from gfsvi.precision import double

TOLERANCE = 1e-6
"""Of the largest eigenvalue: what is smaller does not count."""


class Rank(AbstractTask):
    """Eigenvalues of the covariance that a fitted posterior has on a grid."""

    settings = ("noise",)

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        data, noise = observed(arrays[run.dataset], run.settings)
        process = Model(GaussianProcess(build_kernel(run.settings["kernel"])), Normal(noise))
        method = build_method(run.settings, of_task=self.settings)
        posterior = fitted(method, process, data, run.settings, jax.random.key(run.seed))
        cov = np.asarray(posterior.function.at(GRID).cov, np.float64)[0]
        eigenvalues = np.linalg.eigvalsh(cov)[::-1]
        relative = np.maximum(eigenvalues / eigenvalues[0], 1e-16)
        return {"rank": float(np.sum(relative > TOLERANCE)), "eigenvalues": relative}
