"""Networks of other frameworks, known only by their outputs."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, PRNGKeyArray

from gfsvi.networks.base import AbstractNetwork, Inputs, Outputs, Params
from gfsvi.networks.jacobian import ExplicitJacobian, Jacobian, as_matrix


class AbstractForeignNetwork(AbstractNetwork):
    """A network known only by its outputs; its Jacobian is computed explicitly."""

    @abstractmethod
    def first_params(self, x: Inputs, key: PRNGKeyArray) -> Params:
        """Initial parameters, in any precision."""

    def init(
        self,
        x: Inputs,
        *,
        key: PRNGKeyArray,
        dtype: DTypeLike = jnp.float32,
        lengths: Float[Array, " feature"] | None = None,
    ) -> Params:
        return starting_params(self, self.first_params(jnp.asarray(x, dtype), key), dtype)

    def linearize(
        self, params: Params, x: Inputs, outputs: Float[Array, "k output"]
    ) -> tuple[Outputs, Jacobian]:
        return explicit_linearization(self.apply, params, x, outputs)

    def jacobian_size(self, params: Params) -> int:
        return sum(leaf.size for leaf in jax.tree.leaves(params))

    def checked_outputs(self, outputs: Any, x: Inputs) -> Outputs:
        """The outputs; raise unless they have one row per point and one column per output."""
        shape = getattr(outputs, "shape", None)
        if shape is None or len(shape) != 2 or shape[0] != len(x):
            got = type(outputs).__name__ if shape is None else f"shape {tuple(shape)}"
            raise ValueError(
                f"{type(self).__name__} expects outputs (point, output) for {len(x)} points; "
                f"got {got}. Return one array, and keep the axis of a single output: y[..., None]."
            )
        return outputs

    def hidden_state_error(self, found: str) -> ValueError:
        """The error for a network that keeps state between calls."""
        return ValueError(
            f"{type(self).__name__} expects outputs that depend only on parameters and inputs; got "
            f"a network with hidden state ({found}). Remove it, or replace batch normalisation by "
            "layer or group normalisation."
        )

    def randomness_error(self, remedy: str) -> ValueError:
        """The error for a network that draws random numbers when it is called."""
        return ValueError(
            f"{type(self).__name__} expects outputs that depend only on parameters and inputs; got "
            f"a network that draws random numbers, such as dropout. {remedy}"
        )


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

    values, rows = jax.vmap(at_point)(jnp.asarray(x))
    leaves = zip(jax.tree.leaves(rows), jax.tree.leaves(params), strict=True)
    return values, tuple(
        ExplicitJacobian(jnp.reshape(row, (*row.shape[:2], *as_matrix(leaf).shape)))
        for row, leaf in leaves
    )


class Opaque:
    """Wraps an object that is not part of a pytree: never learned, equal only to itself."""

    def __init__(self, content: Any):
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.content is other.content

    def __hash__(self) -> int:
        return id(self.content)

    def __repr__(self) -> str:
        return repr(self.content)


def starting_params(owner: AbstractNetwork, params: Params, dtype: DTypeLike) -> Params:
    """Parameters in the requested precision; raise if they are not real numbers."""
    kinds = [jnp.result_type(leaf) for leaf in jax.tree.leaves(params)]
    if not kinds or not all(jnp.issubdtype(kind, jnp.floating) for kind in kinds):
        got = ", ".join(sorted({str(kind) for kind in kinds})) or "none at all"
        raise ValueError(
            f"{type(owner).__name__} expects parameters that are floating-point arrays; got {got}. "
            "Move everything else out of the parameters."
        )
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), params)


def as_inputs(x: Inputs, params: Params) -> Inputs:
    """Real inputs in the precision of the parameters; integers are left as they are."""
    x = jnp.asarray(x)
    is_real = jnp.issubdtype(x.dtype, jnp.floating)
    return x.astype(jax.tree.leaves(params)[0].dtype) if is_real else x
