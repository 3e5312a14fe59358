"""Places in the mathematics where a fault can be, and the sources that have it."""

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mutants.operators import Fault, faults_at

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "gfsvi"
LEFT_OUT = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)
"""Statements and expressions that compute nothing."""
WORDS_ONLY = ("__repr__", "__str__", "__check_init__", "check", "described", "sentence")
"""Methods that only speak."""


class Mutant(NamedTuple):
    """A fault in a module.

    Args:
        identity: A hash of module, fault and place that does not depend on line numbers.
        module: Path below the package, such as `kernels/rbf.py`.
        line: Line of the fault today.
        kind: Which kind of fault it is.
        before: The expression without it.
        after: The expression with it.
        place: Number of the fault among all of the module.
    """

    identity: str
    module: str
    line: int
    kind: str
    before: str
    after: str
    place: int


def mutants_of(module: str) -> list[Mutant]:
    """All mutants of a module, in the order of its text."""
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for place, (function, fault) in enumerate(_faults(tree)):
        before, after = (" ".join(ast.unparse(n).split()) for n in (fault.node, fault.replacement))
        content = (module, function, fault.kind, before, after)
        seen[content] += 1
        text = "\n".join((*content, str(seen[content])))
        identity = hashlib.sha256(text.encode()).hexdigest()[:10]
        line = getattr(fault.node, "lineno", 0)
        found.append(Mutant(identity, module, line, fault.kind, before, after, place))
    return found


def source_with(mutant: Mutant) -> ast.Module:
    """The module with its fault."""
    tree = ast.parse((SOURCE / mutant.module).read_text(encoding="utf-8"))
    for place, (_, fault) in enumerate(_faults(tree)):
        if place == mutant.place:
            changed = _Replacing(fault).visit(tree)
            return ast.fix_missing_locations(changed)
    raise ValueError(f"expected {mutant.module} to have {mutant.place} faults; it has changed.")


class _Replacing(ast.NodeTransformer):
    """Puts a fault in its place."""

    def __init__(self, fault: Fault):
        self._fault = fault

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._fault.node:
            return ast.copy_location(copy.deepcopy(self._fault.replacement), node)
        return self.generic_visit(node)


def _faults(tree: ast.AST, function: str = "") -> Iterator[tuple[str, Fault]]:
    """Faults below a node, each with the name of the function that it is in."""
    for node in _computing(tree):
        inner = function
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{function}.{node.name}".strip(".")
        for fault in faults_at(node):
            yield inner, fault
        yield from _faults(node, inner)


def _computing(tree: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that compute something."""
    for name, field in ast.iter_fields(tree):
        if name in ("annotation", "returns", "decorator_list", "bases", "slice"):
            continue
        for node in field if isinstance(field, list) else [field]:
            if isinstance(node, ast.AST) and not _is_left_out(node):
                yield node


def _is_left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef) and node.name in WORDS_ONLY:
        return True
    if isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith("check"):
        return True
    if isinstance(node, ast.If) and all(isinstance(inner, ast.Raise) for inner in node.body):
        return True
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "ValueError"):
        return True
    return isinstance(node, LEFT_OUT)
