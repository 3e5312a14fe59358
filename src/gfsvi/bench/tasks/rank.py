"""How many directions a posterior covariance has."""

from typing import Any

import numpy as np

from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.bench.tasks.curve import GRID, posterior_of
from gfsvi.numerics.precision import double

TOLERANCE = 1e-6
"""Of the largest eigenvalue: what is smaller does not count."""


class Rank(AbstractTask):
    """Eigenvalues of the covariance that a fitted posterior has on a grid."""

    settings = ("noise",)

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, Any]:
        posterior = posterior_of(run, arrays[run.dataset], self.settings).posterior
        cov = np.asarray(posterior.function.at(GRID).cov, np.float64)[0]
        eigenvalues = np.linalg.eigvalsh(cov)[::-1]
        relative = np.maximum(eigenvalues / eigenvalues[0], 1e-16)
        return {"rank": float(np.sum(relative > TOLERANCE)), "eigenvalues": relative}
