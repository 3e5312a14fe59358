"""Kernels, one class per file, each of which can be built without arguments.

A kernel states what is known about the function before any data: smooth (`RBF`, `Matern52`),
rough (`Matern12`), repeating (`Periodic`), linear (`Linear`), a trend that changes
(`IntegratedBrownian`). Kernels can be added, multiplied, scaled and restricted to some features
(`Sum`, `Product`, `Scaled`, `Shifted`, `ActiveDimensions`), `Known` keeps a kernel from being
learned, and `as_kernel` accepts a kernel from GPJax, tinygp or scikit-learn, or any function of two
points. Subclass `AbstractKernel` or `AbstractStationaryKernel` to write a new one.
"""

from gfsvi.kernels.adapters import as_kernel as as_kernel
from gfsvi.kernels.base import AbstractKernel as AbstractKernel
from gfsvi.kernels.base import ActiveDimensions as ActiveDimensions
from gfsvi.kernels.base import Gram as Gram
from gfsvi.kernels.base import Product as Product
from gfsvi.kernels.base import Scaled as Scaled
from gfsvi.kernels.base import Shifted as Shifted
from gfsvi.kernels.base import Sum as Sum
from gfsvi.kernels.constant import Constant as Constant
from gfsvi.kernels.integrated_brownian import IntegratedBrownian as IntegratedBrownian
from gfsvi.kernels.known import Known as Known
from gfsvi.kernels.linear import Linear as Linear
from gfsvi.kernels.locally_periodic import LocallyPeriodic as LocallyPeriodic
from gfsvi.kernels.matern12 import Matern12 as Matern12
from gfsvi.kernels.matern32 import Matern32 as Matern32
from gfsvi.kernels.matern52 import Matern52 as Matern52
from gfsvi.kernels.periodic import Periodic as Periodic
from gfsvi.kernels.rational_quadratic import RationalQuadratic as RationalQuadratic
from gfsvi.kernels.rbf import RBF as RBF
from gfsvi.kernels.stationary import AbstractStationaryKernel as AbstractStationaryKernel
from gfsvi.kernels.white import White as White
