"""Predictions of a saved model with NumPy alone.

Importing JAX and compiling programs takes longer than predicting a few thousand rows. This package
has the formulas of the models that `gfsvi fit` makes of numbers by default, once more and in NumPy;
`tests/serving` holds them equal to the library's. For all other models `read_predictor` returns
None.
"""

from gfsvi.serving.predictor import Predictor as Predictor
from gfsvi.serving.predictor import read_predictor as read_predictor
