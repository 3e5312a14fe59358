"""Means of a prior that are learned from the rows: regressors of scikit-learn, cross-fitted.

A row is never predicted by a regressor that has seen it, so that what is left to learn is what a
new row would leave. scikit-learn is imported when a regressor is fitted, not before.
"""

from gfsvi.prior_means.cross_fitting import CrossFitted as CrossFitted
from gfsvi.prior_means.cross_fitting import cross_fitted as cross_fitted
from gfsvi.prior_means.default_trees import default_trees as default_trees
