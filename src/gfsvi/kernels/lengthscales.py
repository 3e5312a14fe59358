"""Kernels to learn from, with length scales suited to standardised inputs."""

import numpy as np

from gfsvi.kernels.base import AbstractKernel


def with_own_lengthscales(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """A kernel to learn from, with a length scale for each feature where it has length scales."""
    if "lengthscale" in kind.__dataclass_fields__:
        return kind(lengthscale=np.full(num_features, num_features**0.5))
    return kind()


def with_common_lengthscale(kind: type[AbstractKernel], num_features: int) -> AbstractKernel:
    """The same with one length scale for all features, such as the pixels of images."""
    if "lengthscale" in kind.__dataclass_fields__:
        return kind(lengthscale=num_features**0.5)
    return kind()
