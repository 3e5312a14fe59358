"""Vector fields in the plane, with the physics of a Helmholtz decomposition in the prior.

A field is a scalar function of position and component: a row is (x1, x2, component), the component
0 or 1. So components may depend on each other, and all else in the library works as it is.
"""

from gfsvi.kernels.helmholtz import HelmholtzKernel as HelmholtzKernel
from gfsvi.networks.helmholtz import HelmholtzNetwork as HelmholtzNetwork
from gfsvi.numerics.field_rows import field_of as field_of
from gfsvi.numerics.field_rows import rows_at as rows_at
