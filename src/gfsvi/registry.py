"""Public classes by name, discovered in the packages of their collections.

A new file in one of these packages is enough to add a class. Names and descriptions are read from
the sources, because importing all methods would take as long as importing JAX.
"""

import ast
import difflib
import functools
import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

# For each collection, its module or package and the base classes that its members inherit from.
_COLLECTIONS = {
    "covariances": ("gfsvi.covariances", "AbstractFamily"),
    "datasets": (
        *("gfsvi.bench.datasets", "AbstractDataset"),
        *("AbstractTableFile", "AbstractUCITable"),
    ),
    "functions": ("gfsvi.functions", "AbstractRandomFunction"),
    "kernels": ("gfsvi.kernels", "AbstractKernel"),
    "likelihoods": ("gfsvi.likelihoods", "AbstractLikelihood"),
    "means": ("gfsvi.functions.means", "AbstractMean"),
    "methods": ("gfsvi.methods", "AbstractMethod"),
    "networks": ("gfsvi.networks", "AbstractNetwork"),
    "points": ("gfsvi.points", "AbstractPoints"),
    "predictives": ("gfsvi.predictives", "AbstractPredictive"),
    "tasks": ("gfsvi.bench.tasks", "AbstractTask"),
}
# Modules whose classes are built from other objects and have no names.
_NOT_BY_NAME = {"adapters", "base", "helmholtz", "known", "one_of"}
RECIPES = {
    "gfsvi_paper": "The paper's Algorithm 1: independent weights, trained together with the mean.",
    "gfsvi_trained": "GFSVI with Kronecker factors per layer, trained after the mean.",
}
"""Methods with settings of their own, which `gfsvi.auto.recipe` defines."""


def collections() -> tuple[str, ...]:
    """The names of all collections."""
    return tuple(sorted(_COLLECTIONS))


class _Class(NamedTuple):
    """A class as its source describes it."""

    module: str
    name: str
    bases: tuple[str, ...]
    sentence: str

    @property
    def has_name(self) -> bool:
        """Whether it can be built by name: abstract and private classes and adapters cannot."""
        file = self.module.rpartition(".")[2]
        return not (file in _NOT_BY_NAME or self.name.startswith(("Abstract", "_")))


def names(collection: str) -> tuple[str, ...]:
    """The names in a collection, such as "rational_quadratic" for `RationalQuadratic`."""
    return tuple(sorted(_members(collection)))


def find(collection: str, name: str) -> type[Any]:
    """The class of that name; case, hyphens and underscores do not matter."""
    members = _members(collection)
    found = members[known_name(collection.removesuffix("s"), name, members)]
    return getattr(importlib.import_module(found.module), found.name)


def known_name(kind: str, name: str, known: Iterable[str]) -> str:
    """The known name that is meant; case, hyphens and underscores do not matter."""
    by_spelling = {_bare(one): one for one in known}
    found = by_spelling.get(_bare(name))
    if found is None:
        raise ValueError(
            f"expected a {kind} named {_listed(sorted(by_spelling.values()))}; got {name!r:.80}."
            f"{_suggestion(_bare(name), by_spelling)}"
        )
    return found


def describe(collection: str) -> dict[str, str]:
    """One sentence about each member of a collection."""
    members = _members(collection)
    return {name: members[name].sentence for name in sorted(members)}


def methods() -> dict[str, str]:
    """One sentence about each method that users can name, recipes included."""
    return dict(sorted((describe("methods") | RECIPES).items()))


def _members(collection: str) -> dict[str, _Class]:
    if collection not in _COLLECTIONS:
        raise ValueError(
            f"expected a collection named {_listed(collections())}; got {collection!r:.80}."
            f"{_suggestion(str(collection), {name: name for name in _COLLECTIONS})}"
        )
    home, *ideas = _COLLECTIONS[collection]
    classes = [
        one
        for module, path in _sources(home)
        for one in _classes(module, path, path.stat().st_mtime_ns)
    ]
    kinds = _descendants(ideas, classes)
    return {_snake_case(one.name): one for one in classes if one.name in kinds and one.has_name}


def _sources(home: str) -> Iterator[tuple[str, Path]]:
    """The modules of a collection and their files; none of them is imported."""
    place = Path(__file__).parent.joinpath(*home.split(".")[1:])
    if not place.is_dir():
        yield home, place.with_suffix(".py")
        return
    for folder in getattr(sys.modules.get(home), "__path__", [place]):
        for path in sorted(Path(folder).glob("*.py")):
            yield f"{home}.{path.stem}", path


@functools.cache
def _classes(module: str, path: Path, modified: int) -> tuple[_Class, ...]:
    """The classes of a file, which is read again only after it was modified."""
    return tuple(_classes_in(module, path))


def _classes_in(module: str, path: Path) -> Iterator[_Class]:
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ClassDef):
            bases = tuple(map(_name_of_base, node.bases))
            summary = (ast.get_docstring(node) or "").partition("\n\n")[0]
            yield _Class(module, node.name, bases, " ".join(summary.split()))


def _name_of_base(base: ast.expr) -> str:
    """The name of a base class that is written as `Base`, `module.Base` or `Base[Parameter]`."""
    return ast.unparse(base).partition("[")[0].rpartition(".")[2]


def _descendants(ideas: Iterable[str], classes: Sequence[_Class]) -> set[str]:
    """The names of classes that inherit from an idea, directly or through others of these."""
    found = set(ideas)
    while new := {c.name for c in classes if found.intersection(c.bases)} - found:
        found |= new
    return found


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
