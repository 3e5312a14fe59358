"""Constraints on parameters: declared at the field, applied at the head of a loss.

A module holds plain positive numbers, so formulas stay formulas and a kernel prints what it
means; optimisers see `to_free(module)`, where those fields are logarithms.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

T = TypeVar("T")
_POSITIVE = "gfsvi_positive"


def as_float64(value: Any) -> np.ndarray | jax.Array:
    """Store numbers exactly, even where JAX's 64-bit types are switched off."""
    if isinstance(value, jax.Array):
        return value
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):  # placeholders that JAX puts in place of arrays
        return value


def real(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds any real number or array of them."""
    return _field(default, {})


def positive(default: Any = dataclasses.MISSING) -> Any:
    """A field that holds positive numbers and is optimised through its logarithm."""
    return _field(default, {_POSITIVE: True})


def _field(default: Any, metadata: dict[str, Any]) -> Any:
    if default is dataclasses.MISSING:
        return eqx.field(converter=as_float64, metadata=metadata)
    return eqx.field(default=default, converter=as_float64, metadata=metadata)


def check_positive(owner: object, **values: Any) -> None:
    """Refuse parameters that are not positive, in words."""
    for name, value in values.items():
        known = isinstance(value, np.ndarray) and value.dtype != object
        if known and not (np.all(value > 0) and np.all(np.isfinite(value))):
            raise ValueError(
                f"{type(owner).__name__} expects a positive, finite {name}; got {value}."
            )


def to_free(tree: T) -> T:
    """The same tree with its positive fields replaced by their logarithms."""
    return _map_positive(jnp.log, tree)


def from_free(tree: T) -> T:
    """Undo `to_free`."""
    return _map_positive(jnp.exp, tree)


def _map_positive(function: Callable[[Any], Any], tree: T) -> T:
    def visit(path: Any, leaf: Any) -> Any:
        return function(leaf) if _is_positive(tree, path) else leaf

    return jax.tree_util.tree_map_with_path(visit, tree)


def _is_positive(tree: Any, path: Any) -> bool:
    """Whether the last field on the way from the root to a leaf is declared positive."""
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
        else:  # a foreign container: nothing below it is ours
            return False
    return declared


def is_learnable(leaf: Any) -> bool:
    """Whether a leaf is an array of real numbers, NumPy's or JAX's."""
    is_array = isinstance(leaf, (np.ndarray, jax.Array))
    return is_array and bool(jnp.issubdtype(leaf.dtype, jnp.floating))
