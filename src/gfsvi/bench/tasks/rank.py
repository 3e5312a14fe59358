"""Numerical rank of a posterior covariance."""

import numpy as np

from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.bench.tasks.curve import GRID, posterior_of
from gfsvi.numerics.precision import double

TOLERANCE = 1e-6
"""Eigenvalues below this share of the largest do not count."""


class Rank(AbstractTask):
    """Eigenvalues of a fitted posterior's covariance on a grid."""

    settings = ("noise",)

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        posterior = posterior_of(run, arrays[run.dataset], self.settings).posterior
        cov = np.asarray(posterior.function.at(GRID).cov, np.float64)[0]
        eigenvalues = np.linalg.eigvalsh(cov)[::-1]
        relative = np.maximum(eigenvalues / eigenvalues[0], 1e-16)
        return {"rank": float(np.sum(relative > TOLERANCE)), "eigenvalues": relative}
