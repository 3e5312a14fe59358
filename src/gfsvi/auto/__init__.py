"""From rows of a table to a fit and what to know about it.

Estimators add scikit-learn's conventions to this; the command line comes here directly, since
importing scikit-learn takes as long as learning from a small table.
"""

from gfsvi.auto.fitted import Fitted as Fitted
from gfsvi.auto.learner import Learner as Learner
from gfsvi.auto.recipe import Recipe as Recipe
from gfsvi.auto.recipe import recipe_for as recipe_for
