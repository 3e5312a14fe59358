"""Decay of the eigenvalues of a kernel's Gram matrix."""

import numpy as np

from gfsvi.bench.building import build_kernel
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.numerics.precision import double

NUM_POINTS, NUM_REPEATS = 200, 10
SHARE = 0.99


class Spectrum(AbstractTask):
    """Mean eigenvalues of the Gram matrix at points drawn uniformly from [-2, 2]^D."""

    settings = ("dimension",)

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        kernel, size = build_kernel(run.settings["kernel"]), (NUM_POINTS, run.settings["dimension"])
        random = np.random.default_rng(run.seed)
        found = [
            np.linalg.eigvalsh(np.asarray(kernel.gram(random.uniform(-2, 2, size))))[::-1]
            for _ in range(NUM_REPEATS)
        ]
        eigenvalues = np.maximum(np.mean(found, axis=0), 1e-16)
        shares = np.cumsum(eigenvalues) / np.sum(eigenvalues)
        return {
            "num_for_99_percent": float(1 + np.argmax(shares >= SHARE)),
            "eigenvalues": eigenvalues,
        }

    def datasets(self, run: Run) -> tuple[str, ...]:
        return ()
