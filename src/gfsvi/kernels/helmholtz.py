"""A Gaussian-process prior over vector fields, by Helmholtz decomposition."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.kernels.base import AbstractKernel, check_kernels
from gfsvi.kernels.derivatives import gradient_covariance
from gfsvi.kernels.matern12 import Matern12
from gfsvi.kernels.rbf import RBF
from gfsvi.numerics.field_rows import rotated, split_rows
from gfsvi.numerics.types import Points


class HelmholtzKernel(AbstractKernel):
    """The field grad potential + rot stream, with independent Gaussian processes for both.

    rot stream = (d stream / dx2, -d stream / dx1). The first part is free of rotation, the second
    free of divergence (Berlinghieri et al. 2023). Rows are (x1, x2, component), from
    `fields.rows_at`.

    Args:
        potential: Kernel of the potential, on the plane.
        stream: Kernel of the stream function, on the plane.
    """

    potential: AbstractKernel = RBF()
    stream: AbstractKernel = RBF()

    def __check_init__(self) -> None:
        check_kernels(self, self.potential, self.stream)
        for kernel in (self.potential, self.stream):
            parts = jax.tree.leaves(kernel, is_leaf=lambda node: isinstance(node, Matern12))
            if any(isinstance(part, Matern12) for part in parts):
                raise ValueError(
                    "HelmholtzKernel expects kernels of differentiable functions; got a Matern12, "
                    "whose functions are not differentiable. Use RBF, Matern52 or Matern32."
                )

    def cross(self, x: Points, z: Points) -> Float[Array, "row other"]:
        positions, components = split_rows(x, "HelmholtzKernel")
        others, other_components = split_rows(z, "HelmholtzKernel")
        gradient = gradient_covariance(self.potential, positions, others)
        of_potential = jnp.einsum("ni,nmij,mj->nm", components, gradient, other_components)
        # A component of a rotated gradient is the gradient along the axis rotated back.
        axes, other_axes = -rotated(components), -rotated(other_components)
        gradient = gradient_covariance(self.stream, positions, others)
        return of_potential + jnp.einsum("ni,nmij,mj->nm", axes, gradient, other_axes)

    def gram(self, x: Points) -> Float[Array, "row row"]:
        return self.cross(x, x)

    def diagonal(self, x: Points) -> Float[Array, " row"]:
        return jax.vmap(lambda row: self.cross(row[None], row[None])[0, 0])(jnp.asarray(x))
