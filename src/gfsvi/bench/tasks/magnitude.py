"""Size of a posterior's regularised divergence, by gamma and number of measurement points."""

import numpy as np

from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays, Measured
from gfsvi.bench.tasks.curve import posterior_of
from gfsvi.inference.divergences import regularized_kl
from gfsvi.numerics.precision import double

GAMMAS = 10.0 ** np.arange(-10, 1)
NUM_POINTS = (10, 25, 50, 100, 200, 400)
NUM_REPEATS = 5


class Magnitude(AbstractTask):
    """Divergence of a fitted posterior from its prior, by gamma and number of points."""

    settings = ("noise", "shown_gamma")

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> Measured:
        posterior, process, *_ = posterior_of(run, arrays[run.dataset], self.settings)
        random = np.random.default_rng(run.seed)
        values = np.zeros((len(NUM_POINTS), len(GAMMAS)))
        for row, count in enumerate(NUM_POINTS):
            for _ in range(NUM_REPEATS):
                x = random.uniform(-2, 2, (count, 1))
                q, p = posterior.function.at(x), process.function.at(x)
                values[row] += [float(regularized_kl(q, p, gamma=gamma)) for gamma in GAMMAS]
        values /= NUM_REPEATS
        strong = values[:, run.settings.get("shown_gamma", 1e-6) == GAMMAS][:, 0]
        return {
            # Share of the divergence at the most points that 50 points already show.
            "share_seen_at_50": float(strong[NUM_POINTS.index(50)] / strong[-1]),
            "largest_over_smallest_gamma": float(values[-1, 0] / values[-1, -1]),
            "gammas": GAMMAS,
            "num_points": np.array(NUM_POINTS, float),
            "divergence": values,
        }
