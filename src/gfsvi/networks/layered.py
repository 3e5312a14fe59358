"""Networks made of affine stages, whose Jacobians factorise layer by layer."""

from abc import abstractmethod
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.networks.activations import with_functions, without_functions
from gfsvi.networks.base import AbstractNetwork, Inputs, Outputs, Params
from gfsvi.networks.jacobian import ExplicitJacobian, Jacobian, OuterJacobian

MAX_FIRST_IMAGES = 256


class AbstractStage(eqx.Module):
    """A stage without parameters: an activation, pooling, flattening."""

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """The stage's outputs."""


class AbstractAffineStage(eqx.Module):
    """An affine stage: its inputs times a matrix whose last row is the bias."""

    @abstractmethod
    def init(
        self, x: Array, *, key: PRNGKeyArray, dtype: DTypeLike, lengths: Array | None = None
    ) -> Array:
        """The initial matrix for inputs like these."""

    @abstractmethod
    def apply(self, matrix: Array, x: Array) -> Array:
        """The stage's outputs."""

    @abstractmethod
    def sample_outputs(self, matrix: Array, std: Array, x: Array, *, key: PRNGKeyArray) -> Array:
        """Draw the outputs under independent entries N(matrix, std^2)."""

    @abstractmethod
    def perturbed_to_first_order(
        self, matrix: Array, std: Array, x: Array, incoming: Array | None, *, key: PRNGKeyArray
    ) -> tuple[Array, Array]:
        """The outputs, and a draw of their first-order perturbation under entries N(matrix, std^2).

        It adds the incoming perturbation of the inputs, if any. Points may be sampled
        independently, which makes gradients far less noisy.
        """

    @abstractmethod
    def jacobian(self, x: Array, signals: Array) -> OuterJacobian | ExplicitJacobian:
        """Derivatives by the matrix, from the inputs and the back-propagated signals."""

    @abstractmethod
    def jacobian_size(self, matrix: Array) -> int:
        """Number of elements that those derivatives hold at one point."""


class AbstractLayeredNetwork(AbstractNetwork):
    """A network that is a sequence of stages; a subclass only lists them."""

    # scikit-learn pickles estimators to copy them to other processes; JAX functions cannot be.
    def __getstate__(self) -> dict[str, object]:
        return without_functions(vars(self))

    def __setstate__(self, state: dict[str, object]) -> None:
        for name, value in with_functions(state).items():
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def stages(self) -> tuple[AbstractStage | AbstractAffineStage, ...]:
        """The stages, first to last."""

    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: DTypeLike = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        params = []
        x = _some_images(x, key) if x.ndim > 2 else x
        x = jnp.asarray(x, dtype)
        for stage in self.stages:
            if isinstance(stage, AbstractAffineStage):
                key, stage_key = jax.random.split(key)
                first = lengths if not params else None
                params.append(stage.init(x, key=stage_key, dtype=dtype, lengths=first))
                x = stage.apply(params[-1], x)
            else:
                x = stage.apply(x)
        # No activation follows the last stage, so its biases need not be spread.
        return (*params[:-1], params[-1].at[-1].set(0))

    def apply(self, params: Params, x: Inputs) -> Outputs:
        return self._forward(params, x, [0.0] * len(params))[0]

    def perturbed(
        self, params: Params, stds: tuple[Array, ...], x: Inputs, *, key: PRNGKeyArray
    ) -> Outputs:
        """Outputs under independent weights N(params, stds^2), sampled separately per point.

        The local reparameterisation of Kingma et al. (2015).
        """
        matrices, remaining = list(params), list(stds)
        x = jnp.asarray(x, params[0].dtype)
        for stage in self.stages:
            if isinstance(stage, AbstractAffineStage):
                key, stage_key = jax.random.split(key)
                x = stage.sample_outputs(matrices.pop(0), remaining.pop(0), x, key=stage_key)
            else:
                x = stage.apply(x)
        return x

    def perturbed_to_first_order(
        self, params: Params, stds: tuple[Array, ...], x: Inputs, *, key: PRNGKeyArray
    ) -> tuple[Outputs, Outputs]:
        """Outputs, and a draw of their first-order perturbation under weights N(params, stds^2).

        Sampled separately per point as in `perturbed`, in one forward pass without a Jacobian.
        """
        leaves = iter(zip(params, stds, jax.random.split(key, len(params)), strict=True))
        value, change = jnp.asarray(x, params[0].dtype), None
        for stage in self.stages:
            if isinstance(stage, AbstractAffineStage):
                matrix, std, stage_key = next(leaves)
                value, change = stage.perturbed_to_first_order(
                    matrix, std, value, change, key=stage_key
                )
            elif change is None:
                value = stage.apply(value)
            else:
                value, change = jax.jvp(stage.apply, (value,), (change,))
        return value, jnp.zeros_like(value) if change is None else change

    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        affine = [stage for stage in self.stages if isinstance(stage, AbstractAffineStage)]
        shapes = jax.eval_shape(lambda: self._forward(params, x, [0.0] * len(params))[1][1])
        zeros = [jnp.zeros(shape.shape, shape.dtype) for shape in shapes]
        # The signal of a layer is the derivative by a shift of its pre-activations; points are
        # independent, so one pull-back serves all of them.
        predicted, pullback, (inputs, _) = jax.vjp(
            lambda shifts: self._forward(params, x, shifts), zeros, has_aux=True
        )
        cotangents = jnp.broadcast_to(outputs[:, None, :], (len(outputs), *predicted.shape))
        (signals,) = jax.vmap(pullback)(cotangents.astype(predicted.dtype))
        signals = [jnp.swapaxes(signal, 0, 1) for signal in signals]
        triples = zip(affine, inputs, signals, strict=True)
        return predicted, tuple(stage.jacobian(x, signal) for stage, x, signal in triples)

    def last_inputs(self, params: Params, x: Inputs) -> tuple[Outputs, Array]:
        """Outputs, and the inputs of the last affine stage."""
        predicted, (inputs, _) = self._forward(params, x, [0.0] * len(params))
        return predicted, inputs[-1]

    def jacobian_size(self, params: Params) -> int:
        affine = [stage for stage in self.stages if isinstance(stage, AbstractAffineStage)]
        pairs = zip(affine, params, strict=True)
        return sum(stage.jacobian_size(matrix) for stage, matrix in pairs)

    def _forward(
        self, params: Params, x: Inputs, shifts: Sequence[Array | float]
    ) -> tuple[Outputs, tuple[list[Array], list[Array]]]:
        matrices, remaining = list(params), list(shifts)
        inputs, pre_activations = [], []
        x = jnp.asarray(x, params[0].dtype)
        for stage in self.stages:
            if isinstance(stage, AbstractAffineStage):
                inputs.append(x)
                x = stage.apply(matrices.pop(0), x) + remaining.pop(0)
                pre_activations.append(x)
            else:
                x = stage.apply(x)
        return x, (inputs, pre_activations)


def _some_images(x: Inputs, key: PRNGKeyArray) -> Inputs:
    """Enough images for initialisation: the features of a whole data set take gigabytes."""
    if len(x) <= MAX_FIRST_IMAGES:
        return x
    return x[jax.random.choice(key, len(x), (MAX_FIRST_IMAGES,), replace=False)]
