"""Vector fields in the plane, with a Helmholtz decomposition in the prior.

A field is a scalar function of position and component: a row is (x1, x2, component) with component
0 or 1. Components can thus be correlated, and the rest of the library works unchanged.
"""

from gfsvi.kernels.helmholtz import HelmholtzKernel as HelmholtzKernel
from gfsvi.networks.helmholtz import HelmholtzNetwork as HelmholtzNetwork
from gfsvi.numerics.field_rows import field_of as field_of
from gfsvi.numerics.field_rows import rows_at as rows_at
