"""Kernels written as text, as on the command line: `Periodic(period="1 year").on("date")`.

The text is what `repr` of a kernel shows. It is read, never run: only the names of kernels,
numbers, texts, sums, products and `.on(...)` are known.
"""

import ast

from gfsvi import registry
from gfsvi.kernels.base import AbstractKernel, Scaled
from gfsvi.kernels.known import Known

_LONGEST = 2000
_OF_KERNELS = {"Known": Known, "Scaled": Scaled}
_FORM = (
    "expected the name of a kernel, or kernels such as "
    '\'Periodic(period="1 year").on("date") + 0.5 * RBF()\''
)


def is_expression(text: str) -> bool:
    """Whether a text is more than the name of a kernel."""
    return any(character in text for character in "(+*")


def kernel_of(text: str) -> AbstractKernel:
    """Build the kernel that a text describes."""
    try:
        tree = ast.parse(text.strip()[:_LONGEST], mode="eval")
        kernel = _built(tree.body)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"{_FORM}; got {text[:80]!r}. Check brackets and quotes.") from None
    if not isinstance(kernel, AbstractKernel):
        raise ValueError(f"{_FORM}; got {text[:80]!r}.")
    return kernel


def _built(node: ast.expr) -> object:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_built(item) for item in node.elts]
    if isinstance(node, ast.Name):
        return registry.find("kernels", node.id)()
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _built(node.left), _built(node.right)
        if isinstance(left, AbstractKernel) or isinstance(right, AbstractKernel):
            return left + right if isinstance(node.op, ast.Add) else left * right  # pyright: ignore[reportOperatorIssue]
    if isinstance(node, ast.Call):
        return _called(node)
    raise ValueError(f"{_FORM}; got {ast.unparse(node)[:80]!r}.")


def _called(node: ast.Call) -> object:
    values = [_built(value) for value in node.args]
    if isinstance(node.func, ast.Attribute) and node.func.attr == "on" and not node.keywords:
        kernel = _built(node.func.value)
        if isinstance(kernel, AbstractKernel):
            return kernel.on(*values)
    if isinstance(node.func, ast.Name) and all(word.arg for word in node.keywords):
        kind = _OF_KERNELS.get(node.func.id) or registry.find("kernels", node.func.id)
        named = {word.arg: _built(word.value) for word in node.keywords if word.arg is not None}
        try:
            return kind(*values, **named)
        except TypeError as error:
            raise ValueError(f"{_FORM}; got {ast.unparse(node)[:80]!r}: {error}.") from error
    raise ValueError(f"{_FORM}; got {ast.unparse(node)[:80]!r}.")
