"""The activations that have a name: in model files, in experiments, and where Python pickles."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    **{name: getattr(jnp, name) for name in ("tanh", "sin", "cos")},
    **{name: getattr(jax.nn, name) for name in ("relu", "relu6", "leaky_relu", "elu", "selu")},
    **{name: getattr(jax.nn, name) for name in ("celu", "gelu", "silu", "mish", "softplus")},
    **{name: getattr(jax.nn, name) for name in ("sigmoid", "log_sigmoid", "hard_tanh", "identity")},
}


def name_of(function: object) -> str | None:
    """The name of an activation, if it has one."""
    return next((name for name, known in ACTIVATIONS.items() if function is known), None)


@dataclasses.dataclass(frozen=True)
class NamedActivation:
    """What stands for an activation where a function of JAX cannot be, as in a pickle."""

    name: str


def without_functions(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with names instead of activations."""
    names = {f: name for f, value in fields.items() if (name := name_of(value)) is not None}
    return fields | {field: NamedActivation(name) for field, name in names.items()}


def with_functions(fields: dict[str, Any]) -> dict[str, Any]:
    """Undo `without_functions`."""
    named = {f: v.name for f, v in fields.items() if isinstance(v, NamedActivation)}
    return fields | {field: ACTIVATIONS[name] for field, name in named.items()}
