"""Tables: read from files, turned into a matrix of numbers in training, and again at prediction.

`reading` reads and writes files, `frames` converts tables of other libraries, `cells` parses single
columns into numbers, texts and dates, and `recognition` decides which of these a column holds.
`columns` has one recipe per kind of column, `learning` chooses a recipe for each, `targets` handles
what is predicted, and `preparation` puts them together. `time_order` recognises rows in time order,
`weights` reads row weights, and
`sentences` phrases the notes for the user.
"""

from gfsvi.tables.columns import AbstractColumn as AbstractColumn
from gfsvi.tables.columns import Categories as Categories
from gfsvi.tables.columns import Date as Date
from gfsvi.tables.columns import Dropped as Dropped
from gfsvi.tables.columns import Numeric as Numeric
from gfsvi.tables.preparation import Preparation as Preparation
from gfsvi.tables.preparation import PreparedTable as PreparedTable
from gfsvi.tables.targets import Label as Label
from gfsvi.tables.targets import Task as Task
from gfsvi.tables.time_order import TimeOrder as TimeOrder
