"""Tangent kernels: how the outputs of a network move together when its weights do."""

import math
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.covariances.isotropic import Isotropic
from gfsvi.functions.base import AbstractRandomFunction
from gfsvi.networks.base import AbstractNetwork, Params
from gfsvi.networks.in_numpy import network_in_numpy
from gfsvi.networks.jacobian import Jacobian, OuterJacobian
from gfsvi.networks.layered import AbstractLayeredNetwork
from gfsvi.numerics.precision import double
from gfsvi.numerics.types import Points
from gfsvi.plain.networks import first_moving, tangents
from gfsvi.values import Gaussian, Marginals

METRIC = Isotropic()


class AbstractTangents(AbstractRandomFunction):
    """J D J'^T of a network at its weights, with D a variance per layer."""

    network: eqx.AbstractVar[AbstractNetwork]
    params: eqx.AbstractVar[Params]

    @property
    @abstractmethod
    def variances(self) -> tuple[float, ...]:
        """The variances of D, one per leaf of the weights that move."""

    @abstractmethod
    def jacobian(self, x: Points) -> tuple[Float[Array, "output point"], Jacobian]:
        """Outputs and their derivatives by the weights that move."""

    @abstractmethod
    def gram(self, jacobian: Jacobian, other: Jacobian) -> Float[Array, "#output point other"]:
        """J D J'^T between all points, for each output or for all of them."""

    @abstractmethod
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        """Outputs and the tangent kernel between all points."""

    @abstractmethod
    def covariance_in_numpy(self, x: np.ndarray) -> np.ndarray | None:
        """The tangent kernel of the first output; None if the network has no form in NumPy."""


class Tangents(AbstractTangents):
    """The tangent kernel of all weights, computed from layer factors without forming a Jacobian.

    Args:
        network: The network.
        params: The weights that it is linearised at; derivatives are computed in float64.
        log_scales: Logarithms of the standard deviations of D, one per leaf of the weights.
    """

    network: AbstractNetwork
    params: Params
    log_scales: tuple[Float[Array, ""], ...]

    def jacobian(self, x: Points) -> tuple[Float[Array, "output point"], Jacobian]:
        params = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), self.params)
        x = jnp.asarray(x, jnp.float64)
        outputs = jnp.eye(jax.eval_shape(self.network.apply, params, x).shape[-1])
        f, jacobian = self.network.linearize(params, x, outputs)
        return f.T, jacobian

    def gram(self, jacobian: Jacobian, other: Jacobian) -> Float[Array, "output point other"]:
        return METRIC.gram(self.log_scales, jacobian, other)

    def covariance_in_numpy(self, x: np.ndarray) -> np.ndarray | None:
        network = network_in_numpy(self.network, self.params)
        if network is None or np.ndim(x) > 2:
            return None
        first = first_moving(self.variances)
        _, layers = network.linearized(np.asarray(x, np.float64), first)
        return tangents(self.variances, layers, layers)[0]

    @property
    def variances(self) -> tuple[float, ...]:
        return tuple(math.exp(2 * float(scale)) for scale in self.log_scales)

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        f, jacobian = self.jacobian(x)
        return Gaussian(f, self.gram(jacobian, jacobian))

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        f, jacobian = self.jacobian(x)
        return Marginals(f, METRIC.variance(self.log_scales, jacobian))


class LastLayerTangents(AbstractTangents):
    """The tangent kernel of the last layer, the same for all outputs.

    Args:
        network: A network that ends with a dense layer.
        params: The weights that it is linearised at; it is evaluated in their precision.
    """

    network: AbstractLayeredNetwork  # pyright: ignore[reportIncompatibleVariableOverride]
    params: Params

    @property
    def variances(self) -> tuple[float, ...]:
        return (1.0,)

    def jacobian(self, x: Points) -> tuple[Float[Array, "output point"], Jacobian]:
        outputs, inputs = self.network.last_inputs(self.params, jnp.asarray(x))
        signals = jnp.ones((len(inputs), 1, 1), jnp.float64)
        return outputs.T.astype(jnp.float64), (OuterJacobian(inputs.astype(jnp.float64), signals),)

    def gram(self, jacobian: Jacobian, other: Jacobian) -> Float[Array, "1 point other"]:
        return METRIC.gram((jnp.zeros(()),), jacobian, other)

    def covariance_in_numpy(self, x: np.ndarray) -> np.ndarray | None:
        return None

    @double
    def at(self, x: Points, *, key: PRNGKeyArray | None = None) -> Gaussian:
        f, jacobian = self.jacobian(x)
        return Gaussian(f, self.gram(jacobian, jacobian))

    @double
    def marginals(self, x: Points, *, key: PRNGKeyArray | None = None) -> Marginals:
        f, jacobian = self.jacobian(x)
        variance = METRIC.variance((jnp.zeros(()),), jacobian)
        return Marginals(f, variance * jnp.eye(len(f)))
