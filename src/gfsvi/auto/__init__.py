"""Fit a table with sensible defaults.

Estimators add scikit-learn's conventions; the command line uses this package directly, because
importing scikit-learn takes as long as fitting a small table.
"""

from gfsvi.auto.fitted import Fitted as Fitted
from gfsvi.auto.importance import Importance as Importance
from gfsvi.auto.learner import Learner as Learner
from gfsvi.auto.parameters import MethodParameters as MethodParameters
from gfsvi.auto.parameters import Parameters as Parameters
from gfsvi.auto.recipe import Recipe as Recipe
from gfsvi.auto.recipe import recipe_for as recipe_for
