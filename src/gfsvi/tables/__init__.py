"""From an untidy table to a matrix of numbers, learned once and applied again at prediction.

`preparation` is the face; `columns` holds the recipes of a column, `recognition` what cells look
like, `learning` how a recipe is chosen, `targets` what is predicted, `sentences` the words for all
of it and `records` the way to JSON and back.
"""

from gfsvi.tables.columns import AbstractColumn as AbstractColumn
from gfsvi.tables.columns import Categories as Categories
from gfsvi.tables.columns import Date as Date
from gfsvi.tables.columns import Dropped as Dropped
from gfsvi.tables.columns import Numeric as Numeric
from gfsvi.tables.preparation import Preparation as Preparation
from gfsvi.tables.targets import Label as Label
from gfsvi.tables.targets import Task as Task
