"""From an untidy table to a matrix of numbers, learned once and applied again at prediction.

`preparation` is the face; `columns` holds the recipes of a column, `recognition` what cells look
like, `learning` how a recipe is chosen, `targets` what is predicted, `sentences` the words for all
of it and `records` the way to JSON and back.
"""

from gfsvi.preparation.columns import AbstractColumn as AbstractColumn
from gfsvi.preparation.columns import Categories as Categories
from gfsvi.preparation.columns import Date as Date
from gfsvi.preparation.columns import Dropped as Dropped
from gfsvi.preparation.columns import Numeric as Numeric
from gfsvi.preparation.preparation import Preparation as Preparation
from gfsvi.preparation.targets import Label as Label
from gfsvi.preparation.targets import Task as Task
