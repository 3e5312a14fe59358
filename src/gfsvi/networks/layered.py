"""Networks made of affine stages, whose Jacobians factorise layer by layer."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.networks.activations import with_functions, without_functions
from gfsvi.networks.base import AbstractNetwork, Inputs, Outputs, Params
from gfsvi.networks.jacobian import ExplicitJacobian, Jacobian, OuterJacobian

MAX_FIRST_IMAGES = 256


class AbstractStage(eqx.Module):
    """One step of a layered network without parameters: an activation, pooling, flattening."""

    @abstractmethod
    def apply(self, x: Array) -> Array:
        """The stage's outputs."""


class AbstractAffineStage(eqx.Module):
    """One affine step: a matrix, its last row the bias, times the stage's sources."""

    @abstractmethod
    def init(
        self, x: Array, *, key: PRNGKeyArray, dtype: Any, lengths: Array | None = None
    ) -> Array:
        """The matrix to start from, for inputs like these."""

    @abstractmethod
    def apply(self, matrix: Array, x: Array) -> Array:
        """The stage's outputs."""

    @abstractmethod
    def sample_outputs(self, matrix: Array, std: Array, x: Array, *, key: PRNGKeyArray) -> Array:
        """A draw of the stage's outputs when the entries scatter by `std` around `matrix`."""

    @abstractmethod
    def perturbed_to_first_order(
        self, matrix: Array, std: Array, x: Array, move: Array | None, *, key: PRNGKeyArray
    ) -> tuple[Array, Array]:
        """The stage's outputs, and a draw of how far that moves them, to first order.

        Inputs that move themselves, if they do, add to it. Points may be drawn for on their own,
        which makes gradients far less noisy.
        """

    @abstractmethod
    def jacobian(self, x: Array, signals: Array) -> OuterJacobian | ExplicitJacobian:
        """Derivatives by the matrix, from the inputs and the back-propagated signals."""

    @abstractmethod
    def jacobian_size(self, matrix: Array) -> int:
        """How many numbers those derivatives hold at one point."""


class AbstractLayeredNetwork(AbstractNetwork):
    """A network that is a sequence of stages; a subclass only lists them."""

    # scikit-learn pickles estimators to copy them to other processes; JAX's functions refuse it.
    def __getstate__(self) -> dict[str, Any]:
        return without_functions(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
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
        dtype: Any = jnp.float32,
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
        # Nothing follows the last stage that its biases would have to be spread for.
        return (*params[:-1], params[-1].at[-1].set(0))

    def apply(self, params: Params, x: Inputs) -> Outputs:
        return self._forward(params, x, [0.0] * len(params))[0]

    def perturbed(
        self, params: Params, stds: tuple[Array, ...], x: Inputs, *, key: PRNGKeyArray
    ) -> Outputs:
        """Outputs under independent weights N(params, stds^2), a draw for every point alone.

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
        """Outputs, and how far weights N(params, stds^2) move them to first order.

        As in `perturbed` a draw for every point alone, and no Jacobian: one pass forward.
        """
        leaves = iter(zip(params, stds, jax.random.split(key, len(params)), strict=True))
        value, move = jnp.asarray(x, params[0].dtype), None
        for stage in self.stages:
            if isinstance(stage, AbstractAffineStage):
                matrix, std, stage_key = next(leaves)
                value, move = stage.perturbed_to_first_order(
                    matrix, std, value, move, key=stage_key
                )
            elif move is None:
                value = stage.apply(value)
            else:
                value, move = jax.jvp(stage.apply, (value,), (move,))
        return value, jnp.zeros_like(value) if move is None else move

    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        affine = [stage for stage in self.stages if isinstance(stage, AbstractAffineStage)]
        shapes = jax.eval_shape(lambda: self._forward(params, x, [0.0] * len(params))[1][1])
        zeros = [jnp.zeros(shape.shape, shape.dtype) for shape in shapes]
        # The signal of a layer is the derivative by a perturbation of its pre-activations;
        # points do not talk to each other, so one pull-back serves all of them.
        predicted, pullback, (inputs, _) = jax.vjp(
            lambda shifts: self._forward(params, x, shifts), zeros, has_aux=True
        )
        cotangents = jnp.broadcast_to(outputs[:, None, :], (len(outputs), *predicted.shape))
        (signals,) = jax.vmap(pullback)(cotangents.astype(predicted.dtype))
        signals = [jnp.swapaxes(signal, 0, 1) for signal in signals]
        triples = zip(affine, inputs, signals, strict=True)
        return predicted, tuple(stage.jacobian(x, signal) for stage, x, signal in triples)

    def jacobian_size(self, params: Params) -> int:
        affine = [stage for stage in self.stages if isinstance(stage, AbstractAffineStage)]
        pairs = zip(affine, params, strict=True)
        return sum(stage.jacobian_size(matrix) for stage, matrix in pairs)

    def _forward(
        self, params: Params, x: Inputs, shifts: list
    ) -> tuple[Outputs, tuple[list[Array], list[Array]]]:
        matrices, shifts = list(params), list(shifts)
        inputs, pre_activations = [], []
        x = jnp.asarray(x, params[0].dtype)
        for stage in self.stages:
            if isinstance(stage, AbstractAffineStage):
                inputs.append(x)
                x = stage.apply(matrices.pop(0), x) + shifts.pop(0)
                pre_activations.append(x)
            else:
                x = stage.apply(x)
        return x, (inputs, pre_activations)


def _some_images(x: Inputs, key: PRNGKeyArray) -> Inputs:
    """Enough of them to begin with: all that a layer makes of a whole data set is gigabytes."""
    if len(x) <= MAX_FIRST_IMAGES:
        return x
    return x[jax.random.choice(key, len(x), (MAX_FIRST_IMAGES,), replace=False)]
