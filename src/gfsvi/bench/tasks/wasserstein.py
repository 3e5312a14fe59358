"""How far a posterior is from the exact one, under the same prior and the same noise."""

import dataclasses

import jax
import numpy as np

from gfsvi import metrics
from gfsvi.bench.building import build_method, prior_for
from gfsvi.bench.data.folds import fold_of
from gfsvi.bench.experiment import Run
from gfsvi.bench.task import AbstractTask, Arrays
from gfsvi.bench.tasks.regression import function_moments
from gfsvi.methods.exact_gp import ExactGP
from gfsvi.numerics.precision import double


class Wasserstein(AbstractTask):
    """The distance between the marginals of a posterior and of the exact one, at held-out rows."""

    @double
    def __call__(self, run: Run, arrays: dict[str, Arrays]) -> dict[str, float]:
        table = arrays[run.dataset]
        data, _, test = fold_of(table["X"], table["y"], run.fold)
        key = jax.random.key(run.fold + 1000 * run.seed, impl="rbg")
        method = build_method(run.settings)
        prior = prior_for(method, data, run.settings, key)
        # The noise is a part of what both are asked: neither may change it. And nobody stops early:
        # what predicts best on the way is not what is nearest to the exact posterior.
        method = dataclasses.replace(method, fixed=lambda model: model.likelihood)
        fit = method(prior, data, key=key)
        exact = ExactGP()(prior, data, key=key).posterior
        ours, theirs = (function_moments(m, test.x, key) for m in (fit.posterior, exact))
        squared = metrics.wasserstein2_squared(*ours, *theirs)
        return {
            # The paper's is the square, by the library it names.
            "wasserstein2": float(np.mean(squared)),
            "wasserstein2_root": float(np.mean(np.sqrt(squared))),
            "mean_error": float(np.mean(np.square(ours[0] - theirs[0]))),
            "exact_std": float(np.mean(theirs[1])),
            "best_step": float(fit.history.best_step),
        }
