"""From rows of a table to a posterior and what to know of it.

Estimators wear scikit-learn's clothes over this; the command line comes here directly, since
importing scikit-learn takes as long as learning from a small table.
"""

from gfsvi.auto.learner import Learner as Learner
