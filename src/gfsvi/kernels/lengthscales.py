"""Initial kernels with length scales suited to standardised inputs."""

import dataclasses

import numpy as np

from gfsvi.kernels.base import AbstractKernel
from gfsvi.numerics.types import PerFeature


def with_own_lengthscales(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """An initial kernel of this family, with one length scale per feature if it has any."""
    return _built(kind, np.full(num_features, num_features**0.5))


def with_common_lengthscale(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """An initial kernel of this family, with one length scale for all features (or pixels)."""
    return _built(kind, num_features**0.5)


def _built(kind: type[AbstractKernel], lengthscale: PerFeature) -> AbstractKernel:
    has_lengthscale = "lengthscale" in {field.name for field in dataclasses.fields(kind)}
    return kind(**({"lengthscale": lengthscale} if has_lengthscale else {}))
