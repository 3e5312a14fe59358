"""Constraints on parameters: declared at the field, applied at the start of a loss.

A module holds plain positive numbers, so that formulas and printed kernels are readable;
optimisers work on `to_free(module)`, in which those fields are logarithms. Arrays are learned; a
Python float, which only `gfsvi.auto.units` puts there, is known and stays as it is.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.numerics import quantities

T = TypeVar("T")
_POSITIVE = "gfsvi_positive"
DISTANCE = "gfsvi_distance"
"""Marks a field that holds distances between inputs."""


def as_float64(value: Any) -> np.ndarray | jax.Array:
    """Convert to float64, even if JAX's 64-bit types are disabled."""
    if isinstance(value, jax.Array):
        return value
    if isinstance(value, str):
        raise TypeError(
            f"expected a number; got the text {value!r}. Only length scales and periods of inputs "
            "may be texts, in the units of a column."
        )
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):  # placeholders that JAX substitutes for arrays
        return value


def real(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds a real number or an array of real numbers."""
    return _field(default, {})


def positive(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds positive numbers and is optimised through its logarithm."""
    return _field(default, {_POSITIVE: True})


def distance(default: Any = dataclasses.MISSING) -> Any:
    """A positive field of distances between inputs, which may be text in a column's units."""
    return _field(default, {_POSITIVE: True, DISTANCE: True}, as_distance)


def as_distance(value: Any) -> np.ndarray | jax.Array | str:
    """Convert to float64; keep a text such as "3 weeks", which a fit to a table converts."""
    return quantities.checked(value) if isinstance(value, str) else as_float64(value)


def _field(
    default: Any, metadata: dict[str, Any], converter: Callable[[Any], Any] = as_float64
) -> Any:
    if default is dataclasses.MISSING:
        return eqx.field(converter=converter, metadata=metadata)
    return eqx.field(default=default, converter=converter, metadata=metadata)


def check_positive(owner: object, **values: object) -> None:
    """Raise if a parameter is not positive and finite."""
    for name, value in values.items():
        if not isinstance(value, np.ndarray) or value.dtype == object:
            continue  # traced, or a placeholder
        if not (np.all(value > 0) and np.all(np.isfinite(value))):
            raise ValueError(
                f"{type(owner).__name__} expects a positive, finite {name}; got {value}. "
                "Pass a number above zero."
            )


def to_free(tree: T) -> T:
    """The tree with its positive fields replaced by their logarithms."""
    return _map_positive(jnp.log, tree)


def from_free(tree: T) -> T:
    """Invert `to_free`."""
    return _map_positive(jnp.exp, tree)


def _map_positive(function: Callable[[Any], Any], tree: T) -> T:
    def visit(path: jax.tree_util.KeyPath, leaf: object) -> object:
        if isinstance(leaf, float):  # known, not learned
            return leaf
        return function(leaf) if _is_positive(tree, path) else leaf

    return jax.tree_util.tree_map_with_path(visit, tree)


def _is_positive(tree: Any, path: jax.tree_util.KeyPath) -> bool:
    """Whether the last field on the path from the root to a leaf is declared positive."""
    node, declared = tree, False
    for entry in path:
        if isinstance(entry, jax.tree_util.GetAttrKey):
            fields = {field.name: field for field in dataclasses.fields(node)}
            declared = _POSITIVE in fields[entry.name].metadata
            node = getattr(node, entry.name)
        elif isinstance(entry, jax.tree_util.SequenceKey):
            node = node[entry.idx]
        elif isinstance(entry, jax.tree_util.DictKey):
            node = node[entry.key]
        else:  # a foreign container, below which there are no declared fields
            return False
    return declared


def is_learnable(leaf: object) -> bool:
    """Whether a leaf is a NumPy or JAX array of real numbers."""
    if not isinstance(leaf, (np.ndarray, jax.Array)):
        return False
    return bool(jnp.issubdtype(leaf.dtype, jnp.floating))
