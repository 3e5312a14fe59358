"""The fit of the mean that suits a problem."""

from typing import ClassVar

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.inference import gauss_newton
from gfsvi.inference.mean_fit import AbstractMeanFit, GaussNewtonMean, MeanProblem, TrainedMean
from gfsvi.inference.models import LinearizedModel as Linearized
from gfsvi.inference.quick_mean import QuickMean
from gfsvi.training.history import Fit

MAX_COVERED_FEATURES = 3
"""In up to this many dimensions, measurement points cover the inputs."""


class AutoMean(AbstractMeanFit):
    """A fit that suits the problem.

    Args:
        covered: Used for up to three features if the Jacobian is small enough.
        otherwise: Used for all other problems.
        quick: Used in place of both before the closed form, for what can be computed in NumPy.
    """

    holds_mean: ClassVar[bool] = True

    covered: GaussNewtonMean = GaussNewtonMean()
    otherwise: TrainedMean = TrainedMean()
    quick: QuickMean = QuickMean()

    def __call__(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> Fit[Linearized]:
        return self.chosen_for(start, problem)(start, problem, key=key, validation=validation)

    def precompile(
        self, start: Linearized, problem: MeanProblem, *, key: PRNGKeyArray, validation: Data | None
    ) -> None:
        chosen = self.chosen_for(start, problem)
        chosen.precompile(start, problem, key=key, validation=validation)

    def chosen_for(self, start: Linearized, problem: MeanProblem) -> AbstractMeanFit:
        if problem.then_solved and self.quick.handles(start, problem):
            return self.quick
        x = problem.data.x
        covers = np.ndim(x) == 2 and np.shape(x)[1] <= MAX_COVERED_FEATURES
        num_points = problem.points.num_points
        affordable = covers and gauss_newton.is_affordable(start, problem.data, num_points)
        return self.covered if affordable else self.otherwise
