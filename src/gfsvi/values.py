"""Values of a random function at some points: jointly or pointwise Gaussian, or samples."""

from abc import abstractmethod
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from gfsvi.numerics.linalg import cholesky, plain_cholesky
from gfsvi.numerics.precision import double, namespace
from gfsvi.numerics.printing import Printed


class AbstractValues(Printed):
    """Values of a random function, with a mean, a variance and samples."""

    if TYPE_CHECKING:  # fields or properties, hence not arguments of every constructor
        mean: Float[Array, "output point"] = eqx.field(init=False)
        variance: Float[Array, "output point"] = eqx.field(init=False)
    else:
        mean: eqx.AbstractVar[Float[Array, "output point"]]
        variance: eqx.AbstractVar[Float[Array, "output point"]]

    @abstractmethod
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample output point"]:
        """Draw values of the function."""


class Gaussian(AbstractValues):
    """Jointly Gaussian over points, independent over outputs.

    A covariance with one leading entry is shared by all outputs; outputs that depend on each other
    form one block of point-times-output coordinates.
    """

    mean: Float[Array, "output point"]
    cov: Float[Array, "#output point point"]

    def __check_init__(self) -> None:
        mean, cov = jnp.shape(self.mean), jnp.shape(self.cov)
        fits = len(mean) == 2 and len(cov) == 3 and cov[1:] == (mean[1], mean[1])
        if not fits or cov[0] not in (1, mean[0]):
            raise ValueError(
                "Gaussian expects mean (output, point) and cov (output, point, point); "
                f"got {mean} and {cov}. A single output has a leading axis of length 1."
            )

    def of_outputs(self, chosen: Int[Array, " k"]) -> "Gaussian":
        """The values of the chosen outputs."""
        cov = self.cov if len(self.cov) == 1 else self.cov[chosen]
        return Gaussian(self.mean[chosen], cov)

    @property
    def variance(self) -> Float[Array, "output point"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        diagonal = jnp.diagonal(self.cov, axis1=-2, axis2=-1)
        return jnp.broadcast_to(diagonal, jnp.shape(self.mean))

    @double
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample output point"]:
        cov = jnp.asarray(self.cov, jnp.float64)
        # Far below any modelled variance: it only keeps the factor of a singular Gram finite.
        jitter = 1e-12 * jnp.mean(jnp.diagonal(cov, axis1=-2, axis2=-1)) + 1e-300
        factor = cholesky(cov + jitter * jnp.eye(cov.shape[-1]), jitter)
        noise = jax.random.normal(key, (num_samples, *jnp.shape(self.mean)), jnp.float64)
        return self.mean + jnp.einsum("...ij,...j->...i", factor, noise)


class Marginals(AbstractValues):
    """Gaussian at each point separately, with the covariance between the outputs there."""

    mean: Float[Array, "output point"]
    cov: Float[Array, "point output output"]

    @property
    def variance(self) -> Float[Array, "output point"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return namespace(self.cov).diagonal(self.cov, axis1=-2, axis2=-1).T

    @double
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample output point"]:
        noise = jax.random.normal(key, (num_samples, *self.cov.shape[:2]), self.cov.dtype)
        return self.mean + jnp.einsum("pij,spj->sip", self._factor, noise)

    @double
    def from_noise(
        self, noise: Float[Array, "sample output"]
    ) -> Float[Array, "sample output point"]:
        """Draws from standard normal numbers that all points share.

        A draw at one point then does not depend on which other points are evaluated.
        """
        return self.mean + jnp.einsum("pij,sj->sip", self._factor, noise)

    @property
    def _factor(self) -> Float[Array, "point output output"]:
        cov = jnp.asarray(self.cov)
        size = jnp.mean(jnp.diagonal(cov, axis1=-2, axis2=-1), axis=-1)[:, None, None]
        jitter = 4 * jnp.finfo(cov.dtype).eps * size + jnp.finfo(cov.dtype).tiny
        return plain_cholesky(cov + jitter * jnp.eye(cov.shape[-1], dtype=cov.dtype))


class Independent(AbstractValues):
    """Gaussian at each point, and for each output there, separately; in NumPy or in JAX."""

    mean: Float[Array, "output point"]
    variance: Float[Array, "output point"]

    @property
    def cov(self) -> Float[Array, "point output output"]:
        """The covariance between the outputs at each point, which is diagonal."""
        numpy = namespace(self.variance)
        return self.variance.T[:, :, None] * numpy.eye(len(self.variance))

    @double
    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample output point"]:
        noise = jax.random.normal(key, (num_samples, *self.mean.shape), self.mean.dtype)
        return self.mean + noise * jnp.sqrt(self.variance)

    def from_noise(
        self, noise: Float[Array, "sample output"]
    ) -> Float[Array, "sample output point"]:
        """Draws from standard normal numbers that all points share."""
        return self.mean + noise[:, :, None] * namespace(self.variance).sqrt(self.variance)


class Samples(AbstractValues):
    """Equally likely draws of the function's values."""

    draws: Float[Array, "sample output point"]

    @property
    def mean(self) -> Float[Array, "output point"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return jnp.mean(self.draws, axis=0)

    @property
    def variance(self) -> Float[Array, "output point"]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return jnp.var(self.draws, axis=0)

    @property
    def cov(self) -> Float[Array, "output point point"]:
        """The covariance between points, output by output."""
        deviations = jnp.swapaxes(self.draws - self.mean, 0, 1)
        return jnp.swapaxes(deviations, 1, 2) @ deviations / len(self.draws)

    def sample(self, num_samples: int, *, key: PRNGKeyArray) -> Float[Array, "sample output point"]:
        chosen = jax.random.choice(key, len(self.draws), (num_samples,))
        return self.draws[chosen]


def as_gaussian(values: AbstractValues) -> Gaussian:
    """The joint Gaussian with the same mean and covariance between points."""
    if isinstance(values, Gaussian):
        return values
    if isinstance(values, Samples):
        return Gaussian(values.mean, values.cov)
    raise TypeError(
        "expected joint values at several points (Gaussian or Samples); got "
        f"{type(values).__name__}. Use `function.at(x)`, not `function.marginals(x)`."
    )
