"""Networks: a function of parameters and inputs, and how its outputs move with its parameters.

The library never looks inside a network that it does not know: `apply(params, x)` is enough.
Networks made of affine stages (`AbstractLayeredNetwork`) give their Jacobian as layer factors,
which is what makes variances and Gram matrices cheap.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.activations import with_functions, without_functions
from gfsvi.jacobian import ExplicitJacobian, Jacobian, OuterJacobian, as_matrix

MAX_FIRST_IMAGES = 256

Params = Any
Inputs = Float[Array, "point *feature"]
Outputs = Float[Array, "point output"]


class AbstractNetwork(eqx.Module):
    """A network: parameters to begin with, outputs, and their Jacobian."""

    @abstractmethod
    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: Any = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        """Parameters to start from, for inputs like `x`.

        A network that can starts out varying along each feature on the given `lengths`.
        """

    @abstractmethod
    def apply(self, params: Params, x: Inputs) -> Outputs:
        """Outputs at `x`."""

    @abstractmethod
    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        """Outputs at `x`, and derivatives of `outputs @ f(x)` by every leaf of the parameters."""

    @abstractmethod
    def jacobian_size(self, params: Params) -> int:
        """How many numbers the Jacobian of one output at one point holds."""

    def jacobian(self, params: Params, x: Inputs, outputs: Float[Array, "k output"]) -> Jacobian:
        """The derivatives alone."""
        return self.linearize(params, x, outputs)[1]


class AbstractForeignNetwork(AbstractNetwork):
    """A network known by its outputs alone; its Jacobian is computed number by number."""

    @abstractmethod
    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        """Parameters to start from, in whatever precision they come."""

    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: Any = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        return starting_params(self, self.first_params(jnp.asarray(x, dtype), key), dtype)

    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        return explicit_linearization(self.apply, params, x, outputs)

    def jacobian_size(self, params: Params) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(params))


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
    def drawn(self, matrix: Array, std: Array, x: Array, *, key: PRNGKeyArray) -> Array:
        """A draw of the stage's outputs when the entries scatter by `std` around `matrix`."""

    @abstractmethod
    def moved(
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
                x = stage.drawn(matrices.pop(0), remaining.pop(0), x, key=stage_key)
            else:
                x = stage.apply(x)
        return x

    def moved(
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
                value, move = stage.moved(matrix, std, value, move, key=stage_key)
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


def explicit_linearization(
    apply: Callable[[Params, Inputs], Outputs],
    params: Params,
    x: Inputs,
    outputs: Float[Array, "k output"],
) -> tuple[Outputs, Jacobian]:
    """Outputs and Jacobian of any network, one point at a time."""

    def at_point(point: Array) -> tuple[Array, Params]:
        value, pullback = jax.vjp(lambda p: apply(p, point[None])[0], params)
        return value, jax.vmap(pullback)(outputs.astype(value.dtype))[0]

    values, rows = jax.vmap(at_point)(x)
    leaves = zip(jax.tree.leaves(rows), jax.tree.leaves(params), strict=True)
    return values, tuple(
        ExplicitJacobian(jnp.reshape(row, (*row.shape[:2], *as_matrix(leaf).shape)))
        for row, leaf in leaves
    )


class Opaque:
    """Holds an object that is no part of a tree: never learned, equal only to itself."""

    def __init__(self, content: Any):
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)

    def __repr__(self) -> str:
        return repr(self.content)


def starting_params(owner: AbstractNetwork, params: Params, dtype: Any) -> Params:
    """Parameters in the precision asked for, refused if they are not real numbers."""
    kinds = [jnp.result_type(leaf) for leaf in jax.tree.leaves(params)]
    if not kinds or not all(jnp.issubdtype(kind, jnp.floating) for kind in kinds):
        got = ", ".join(sorted({str(kind) for kind in kinds})) or "none at all"
        raise ValueError(
            f"{type(owner).__name__} expects parameters that are floating-point arrays; got {got}. "
            "Keep everything else out of the parameters."
        )
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), params)


def as_inputs(x: Inputs, params: Params) -> Inputs:
    """Real inputs in the precision of the parameters; whole numbers are left alone."""
    x = jnp.asarray(x)
    return x.astype(_dtype(params)) if jnp.issubdtype(x.dtype, jnp.floating) else x


def checked_outputs(owner: AbstractNetwork, outputs: Any, x: Inputs) -> Outputs:
    """The outputs, refused unless they have one row a point and one column an output."""
    shape = getattr(outputs, "shape", None)
    if shape is None or len(shape) != 2 or shape[0] != len(x):
        got = type(outputs).__name__ if shape is None else f"shape {tuple(shape)}"
        raise ValueError(
            f"{type(owner).__name__} expects outputs (point, output) for {len(x)} points; "
            f"got {got}. Return one array, and keep the axis of a single output: y[..., None]."
        )
    return outputs


def hidden_state_error(owner: AbstractNetwork, found: str) -> ValueError:
    """What to say of a network that remembers something between calls."""
    return ValueError(
        f"{type(owner).__name__} expects outputs that depend on parameters and inputs alone; got "
        f"a network with hidden state ({found}). Remove it, or replace batch normalisation by "
        "layer or group normalisation."
    )


def randomness_error(owner: AbstractNetwork, remedy: str) -> ValueError:
    """What to say of a network that draws random numbers when it is called."""
    return ValueError(
        f"{type(owner).__name__} expects outputs that depend on parameters and inputs alone; got "
        f"a network that draws random numbers, such as dropout. {remedy}"
    )


def _dtype(params: Params) -> Any:
    return jax.tree.leaves(params)[0].dtype
