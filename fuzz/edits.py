"""Changes to model files: of single bits, of the JSON text with a checksum that fits, of arrays."""

import contextlib
import copy
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import safetensors.numpy
from hypothesis import strategies as st

from gfsvi.storage import container
from gfsvi.storage.tags import places

Path = tuple[Any, ...]
NAMES = ("__class__", "checkpoint", "watch", "predict_distribution", "fields", "", "_x", "expect")
ATOMS: list[Any] = [None, True, False, 0, 1, -1, 7, 2**31, 2**63, 10**10, -(10**10), 10**400]
ATOMS += [0.5, -0.5, 1e-300, 1e300, -1e300, "", "a", "x" * 5000, "../../etc/passwd", "regression"]
ATOMS += [[], {}, [1, 2], {"float": "nan"}, {"float": "-inf"}, {"array": 0, "dtype": "float64"}]
ATOMS += [{"array": 10**9, "dtype": "float64"}, {"array": -1, "dtype": "float64"}]
ATOMS += [{"array": 0, "dtype": "uint8"}, {"scalar": 0, "dtype": "float64"}, {"tuple": []}]
ATOMS += [{"function": "tanh"}, {"function": "eval"}, {"dtype": "float32"}, {"dtype": "object"}]
ATOMS += [{"object": "kernel:white", "fields": {"variance": 1.0}}, {"object": "x", "fields": {}}]
ATOMS += [
    {"object": "mean:zero", "fields": {}},
    {"dict": [["__class__", 1]]},
    {"tuple": [1] * 9999},
]
ATOMS += [{"key": "threefry2x32", "data": {"array": 0, "dtype": "uint32"}}]
VALUES = (0.0, -1.0, np.nan, np.inf, 1e300, 1e-300)

places_in = st.integers(0, 2**32)
atoms = st.one_of(st.sampled_from(ATOMS), st.integers(), st.floats(allow_nan=False), st.text())
nests = st.sampled_from([3, 300, 5000]).map(lambda depth: ("nest", depth))
edit_of_text = st.one_of(
    st.tuples(st.just("replace"), places_in, atoms),
    st.tuples(st.just("remove"), places_in, st.none()),
    st.tuples(st.just("repeat"), places_in, st.sampled_from([2, 1000])),
    st.tuples(st.just("copy"), places_in, places_in),
    st.tuples(st.just("rename"), places_in, st.sampled_from(NAMES)),
    st.tuples(st.just("tag"), places_in, st.sampled_from(sorted(places()))),
    st.tuples(st.just("nest"), places_in, st.sampled_from([3, 300, 5000])),
    st.tuples(st.just("number"), places_in, st.integers() | st.sampled_from([10**10, -5, 2**63])),
)
edit_of_arrays = st.one_of(
    st.tuples(st.just("fill"), places_in, st.sampled_from(VALUES)),
    st.tuples(st.just("poke"), places_in, st.sampled_from(VALUES)),
    st.tuples(st.just("scale"), places_in, st.sampled_from([-1.0, 1e200, 1e-200])),
    st.tuples(st.just("reshape"), places_in, st.sampled_from(["flat", "first", "more", "empty"])),
    st.tuples(st.just("cast"), places_in, st.sampled_from(["int32", "uint8", "float16", "bool"])),
)
edit_of_bytes = st.one_of(
    st.tuples(st.just("flip"), places_in, st.integers(1, 255)),
    st.tuples(st.just("cut"), places_in, st.none()),
    st.tuples(st.just("insert"), places_in, st.binary(min_size=1, max_size=9)),
    st.tuples(st.just("length"), places_in, st.none()),
    st.tuples(st.just("twice"), places_in, st.none()),
)
edits = st.one_of(
    st.lists(edit_of_text | edit_of_arrays, min_size=1, max_size=3).map(lambda e: ("forged", e)),
    st.lists(edit_of_bytes, min_size=1, max_size=3).map(lambda e: ("damaged", e)),
)


def edited(data: bytes, edit: tuple[str, list[tuple[str, int, Any]]]) -> bytes:
    """The file after these changes."""
    kind, changes = edit
    if kind == "damaged":
        for name, place, value in changes:
            data = damaged(data, name, place, value)
        return data
    tensors = safetensors.numpy.load(data)
    arrays = [tensors[name] for name in sorted(tensors)]
    outer = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    header = json.loads(outer["__metadata__"]["gfsvi"])
    del header["checksum"]
    for name, place, value in changes:
        if name in _OF_ARRAYS and arrays:
            number = place % len(arrays)
            with np.errstate(all="ignore"):
                changed = _OF_ARRAYS[name](arrays[number], place // len(arrays), value)
            arrays[number] = np.ascontiguousarray(changed)
        elif name not in _OF_ARRAYS:
            edit_tree(header, name, place, value)
    return _packed(header, arrays)


def _packed(header: dict[str, Any], arrays: list[np.ndarray]) -> bytes:
    try:
        header["checksum"] = container.digest(header, arrays)
        text = json.dumps(header, allow_nan=False)
    except (ValueError, RecursionError):  # what JSON cannot say
        text = "{}"
    tensors = {f"{number:06d}": array for number, array in enumerate(arrays)}
    return safetensors.numpy.save(tensors, metadata={"gfsvi": text})


def damaged(data: bytes, name: str, place: int, value: Any) -> bytes:
    """The file after a change of its bytes."""
    at = place % (len(data) + 1)
    if name == "flip":
        return data[:at] + bytes([data[at] ^ value]) + data[at + 1 :] if at < len(data) else data
    if name == "cut":
        return data[:at]
    if name == "insert":
        return data[:at] + value + data[at:]
    if name == "length":
        return (place * 2**16).to_bytes(8, "little")[:8] + data[8:]
    return data[:8] + data[8:].replace(b'{\\"', b'{\\"format\\":2,\\"', 1)


def _paths(node: Any, path: Path = ()) -> list[Path]:
    """Where in a tree there is something, the tree itself left out."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    found: list[Path] = []
    for key, item in items:
        found.append((*path, key))
        if isinstance(item, dict | list) and len(path) < 100:
            found += _paths(item, (*path, key))
    return found


def _at(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def edit_tree(tree: dict[str, Any], name: str, place: int, value: Any) -> None:
    """Change something in a tree of dictionaries and lists."""
    paths = _paths(tree)
    if name == "number":
        paths = [p for p in paths if type(_at(tree, p)) is int]
    if name == "tag":
        paths = [p for p in paths if p[-1] == "object"]
    if not paths:
        return
    path = paths[place % len(paths)]
    owner, key = _at(tree, path[:-1]), path[-1]
    if name == "remove":
        del owner[key]
    elif name == "copy":
        with contextlib.suppress(RecursionError):  # of what is nested thousands of times
            owner[key] = copy.deepcopy(_at(tree, paths[value % len(paths)]))
    elif name == "repeat" and isinstance(owner[key], list) and len(owner[key]) < 200:
        owner[key] = owner[key] * value
    elif name == "rename" and isinstance(owner, dict):
        owner[value] = owner.pop(key)
    elif name == "nest":
        for _ in range(value):
            owner[key] = [owner[key]]
    elif name in ("replace", "tag", "number"):
        owner[key] = value


def _poked(array: np.ndarray, place: int, value: float) -> np.ndarray:
    changed = array.copy()
    if changed.size:
        changed.reshape(-1)[place % changed.size] = _fitting(value, array.dtype)
    return changed


def _fitting(value: float, dtype: np.dtype[Any]) -> float:
    return value if dtype.kind == "f" else 1


def _reshaped(array: np.ndarray, place: int, how: str) -> np.ndarray:
    if how == "flat":
        return array.reshape(-1)
    if how == "empty":
        return array[:0] if array.ndim else array.reshape(1)[:0]
    if how == "first":
        return array[: max(1, len(array) // 2)] if array.ndim else array
    return array[None]


_OF_ARRAYS: dict[str, Callable[[np.ndarray, int, Any], np.ndarray]] = {
    "fill": lambda array, _, value: np.full_like(array, _fitting(value, array.dtype)),
    "poke": _poked,
    "scale": lambda array, _, value: (array * value).astype(array.dtype),
    "reshape": _reshaped,
    "cast": lambda array, _, value: array.astype(value),
}
