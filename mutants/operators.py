"""Faults of one place: signs, factors, terms, operators, axes, comparisons and constants."""

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple

BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.Gt,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
NAMES = {
    **{"sum": "mean", "mean": "sum", "max": "min", "min": "max", "argmax": "argmin"},
    **{"argmin": "argmax", "maximum": "minimum", "minimum": "maximum", "log1p": "expm1"},
    **{"cos": "sin", "sin": "cos", "logsumexp": "max", "argsort": "argmax"},
}
DROPPED = ("sqrt", "log", "exp", "square", "stop_gradient", "abs", "log1p", "sign", "cumsum")
"""Functions of one argument that can be left out."""
SWAPPED_AXES = {0: -1, -1: 0, 1: 0, -2: -1}
FIRST_OPERAND, SECOND_OPERAND = "drop the second operand", "drop the first operand"


class Fault(NamedTuple):
    """A fault: what replaces a node, and which kind of fault that is."""

    kind: str
    node: ast.AST
    replacement: ast.AST


def faults_at(node: ast.AST) -> Iterator[Fault]:
    """The faults that can be put in the place of a node."""
    for maker in (_of_arithmetic, _of_comparisons, _of_constants, _of_calls, _of_transposes):
        yield from maker(node)


def _of_arithmetic(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        if isinstance(node.op, ast.USub):
            yield Fault("drop the sign", node, node.operand)
        elif isinstance(node.op, ast.Not):
            yield Fault("drop the negation", node, node.operand)
    if isinstance(node, ast.BinOp):
        other = BINARY.get(type(node.op))
        if other is not None and not _is_text(node):
            yield Fault("other operator", node, _with(node, op=other()))
            yield Fault(FIRST_OPERAND, node, node.left)
            if isinstance(node.op, ast.Mult | ast.Add):
                yield Fault(SECOND_OPERAND, node, node.right)
        if isinstance(node.op, ast.MatMult):
            yield Fault("swap the factors", node, _with(node, left=node.right, right=node.left))
    if isinstance(node, ast.AugAssign) and type(node.op) in BINARY:
        yield Fault("other operator", node, _with(node, op=BINARY[type(node.op)]()))


def _of_comparisons(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = COMPARED.get(type(node.ops[0]))
        if other is not None:
            yield Fault("other comparison", node, _with(node, ops=[other()]))
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield Fault("other connective", node, _with(node, op=other))
    if isinstance(node, ast.IfExp):
        swapped = _with(node, body=node.orelse, orelse=node.body)
        yield Fault("swap the branches", node, swapped)


def _of_constants(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.keyword) and node.arg == "axis":
        axis = _number(node.value)
        if axis in SWAPPED_AXES:
            other = ast.Constant(SWAPPED_AXES[axis])
            yield Fault("other axis", node, _with(node, value=other))
    elif isinstance(node, ast.keyword) and node.arg in ("lower", "trans", "keepdims"):
        flag = node.value.value if isinstance(node.value, ast.Constant) else None
        if isinstance(flag, bool):
            other = ast.Constant(not flag)
            yield Fault("other flag", node, _with(node, value=other))
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield Fault("other constant", node, ast.Constant(_other(node.value)))


def _of_calls(node: ast.AST) -> Iterator[Fault]:
    if not isinstance(node, ast.Call):
        return
    name = _last_name(node.func)
    if name in NAMES and isinstance(node.func, ast.Attribute):
        yield Fault("other function", node, _with(node, func=_with(node.func, attr=NAMES[name])))
    if name in DROPPED and len(node.args) == 1 and not node.keywords:
        yield Fault("drop the function", node, node.args[0])


def _of_transposes(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        yield Fault("drop the transpose", node, node.value)


def _with(node: ast.AST, **changes: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _other(value: float) -> float:
    if isinstance(value, int):
        return value + 1
    return 1.0 if value == 0 else 2 * value


def _number(node: ast.AST) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    is_whole = isinstance(node, ast.Constant) and type(node.value) is int
    return node.value if is_whole else None


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(side, ast.JoinedStr | ast.List | ast.Tuple | ast.Dict)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in sides
    )


def _last_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None
