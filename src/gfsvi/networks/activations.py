"""Named activations, for model files, experiments and pickles."""

import dataclasses
from collections.abc import Callable

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
    """Stands in for an activation where a JAX function cannot be stored, as in a pickle."""

    name: str


def without_functions(fields: dict[str, object]) -> dict[str, object]:
    """The fields with activations replaced by their names."""
    names = {f: name for f, value in fields.items() if (name := name_of(value)) is not None}
    return fields | {field: NamedActivation(name) for field, name in names.items()}


def with_functions(fields: dict[str, object]) -> dict[str, object]:
    """Undo `without_functions`."""
    named = {f: v.name for f, v in fields.items() if isinstance(v, NamedActivation)}
    return fields | {field: ACTIVATIONS[name] for field, name in named.items()}
