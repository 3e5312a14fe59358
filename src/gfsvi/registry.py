"""Public classes by name, discovered in the packages of their collections.

A new file in one of these packages is enough to add a class; nothing is imported before its first
use.
"""

import difflib
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

# For each collection, its module or package and the base class of its members.
_COLLECTIONS = {
    "covariances": ("gfsvi.covariances", "base.AbstractCovariance"),
    "datasets": ("gfsvi.bench.datasets", "gfsvi.bench.data.dataset.AbstractDataset"),
    "functions": ("gfsvi.functions", "base.AbstractRandomFunction"),
    "kernels": ("gfsvi.kernels", "base.AbstractKernel"),
    "likelihoods": ("gfsvi.likelihoods", "base.AbstractLikelihood"),
    "means": ("gfsvi.functions.means", "AbstractMean"),
    "methods": ("gfsvi.methods", "base.AbstractMethod"),
    "networks": ("gfsvi.networks", "base.AbstractNetwork"),
    "points": ("gfsvi.points", "AbstractPoints"),
    "predictives": ("gfsvi.predictives", "base.AbstractPredictive"),
    "tasks": ("gfsvi.bench.tasks", "gfsvi.bench.task.AbstractTask"),
}
# Modules whose classes are built from other objects and have no names.
_NOT_BY_NAME = {"adapters", "base", "helmholtz", "one_of"}


def collections() -> tuple[str, ...]:
    """The names of all collections."""
    return tuple(sorted(_COLLECTIONS))


def names(collection: str) -> tuple[str, ...]:
    """The names in a collection, such as "rational_quadratic" for `RationalQuadratic`."""
    return tuple(sorted(_classes(collection)))


def find(collection: str, name: str) -> type[Any]:
    """The class of that name; case, hyphens and underscores do not matter."""
    classes = _classes(collection)
    return classes[known_name(collection.removesuffix("s"), name, classes)]


def known_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The known name that is meant; case, hyphens and underscores do not matter."""
    by_spelling = {_bare(one): one for one in known}
    found = by_spelling.get(_bare(name))
    if found is None:
        raise ValueError(
            f"expected a {kind} named {_listed(sorted(by_spelling.values()))}; got {name!r}."
            f"{_suggestion(_bare(name), by_spelling)}"
        )
    return found


def describe(collection: str) -> dict[str, str]:
    """One sentence about each member of a collection."""
    classes = _classes(collection)
    return {name: _first_sentence(classes[name]) for name in sorted(classes)}


def _classes(collection: str) -> dict[str, type[Any]]:
    if collection not in _COLLECTIONS:
        raise ValueError(
            f"expected a collection named {_listed(collections())}; got {collection!r}."
            f"{_suggestion(str(collection), {name: name for name in _COLLECTIONS})}"
        )
    home, idea = _COLLECTIONS[collection]
    kind = _resolved(idea if idea.startswith("gfsvi.") else f"{home}.{idea}")
    found: dict[str, type[Any]] = {}
    for module in _modules(importlib.import_module(home)):
        for member in vars(module).values():
            if _is_final(member, kind) and member.__module__ == module.__name__:
                found[_snake_case(member.__name__)] = member
    return found


def _resolved(name: str) -> type[Any]:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _modules(home: ModuleType) -> Iterator[ModuleType]:
    yield home
    for info in pkgutil.iter_modules(getattr(home, "__path__", ())):
        if info.name in _NOT_BY_NAME or info.name.startswith("_"):
            continue
        try:
            yield importlib.import_module(f"{home.__name__}.{info.name}")
        except ModuleNotFoundError as error:
            # Another framework may be missing; a missing module of our own is an error.
            if error.name is None or error.name.partition(".")[0] == "gfsvi":
                raise


def _is_final(member: object, idea: type[Any]) -> bool:
    if not (inspect.isclass(member) and issubclass(member, idea)):
        return False
    return not (inspect.isabstract(member) or member.__name__.startswith(("Abstract", "_")))


def _snake_case(name: str) -> str:
    # A word begins at a capital after a lower-case letter, or at the last of several capitals.
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _bare(name: object) -> str:
    return re.sub(r"[\s_-]", "", str(name)).lower()


def _listed(known: Iterable[str]) -> str:
    *first, last = known
    return f"{', '.join(first)} or {last}" if first else last


def _suggestion(spelling: str, known: dict[str, str]) -> str:
    close = difflib.get_close_matches(spelling, known, n=1)
    return f" Did you mean {known[close[0]]!r}?" if close else ""


def _first_sentence(member: type[Any]) -> str:
    text = inspect.cleandoc(member.__doc__ or "")
    return " ".join(text.partition("\n\n")[0].split())
