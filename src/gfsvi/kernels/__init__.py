"""The collection of kernels, one class a file, each of which builds with no arguments.

A kernel states what is known about the function before any data: smooth (`RBF`, `Matern52`),
rough (`Matern12`), repeating (`Periodic`), a line (`Linear`). They add, multiply, scale and look
at chosen features (`gfsvi.kernels.base`), and `as_kernel` accepts a kernel of GPJax, tinygp or
scikit-learn, or any function of two points.
"""

from gfsvi.kernels.adapters import as_kernel as as_kernel
from gfsvi.kernels.constant import Constant as Constant
from gfsvi.kernels.linear import Linear as Linear
from gfsvi.kernels.locally_periodic import LocallyPeriodic as LocallyPeriodic
from gfsvi.kernels.matern12 import Matern12 as Matern12
from gfsvi.kernels.matern32 import Matern32 as Matern32
from gfsvi.kernels.matern52 import Matern52 as Matern52
from gfsvi.kernels.periodic import Periodic as Periodic
from gfsvi.kernels.rational_quadratic import RationalQuadratic as RationalQuadratic
from gfsvi.kernels.rbf import RBF as RBF
from gfsvi.kernels.white import White as White
