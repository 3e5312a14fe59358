"""Initial kernels with length scales suited to standardised inputs."""

import numpy as np

from gfsvi.kernels.base import AbstractKernel


def with_own_lengthscales(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """An initial kernel of this family, with one length scale per feature if it has any."""
    if "lengthscale" in kind.__dataclass_fields__:
        return kind(lengthscale=np.full(num_features, num_features**0.5))
    return kind()


def with_common_lengthscale(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """An initial kernel of this family, with one length scale for all features (or pixels)."""
    if "lengthscale" in kind.__dataclass_fields__:
        return kind(lengthscale=num_features**0.5)
    return kind()
