"""Signatures of Equinox modules, which are dataclasses without the decorator.

Without this, an API page would show `RBF()` instead of `RBF(lengthscale=1.0, variance=1.0)`.
"""

import ast
from typing import Any

import griffe


class EquinoxSignatures(griffe.Extension):
    """Adds to every class with annotated fields the `__init__` that Equinox generates."""

    def on_class_members(self, *, cls: griffe.Class, **_: Any) -> None:
        """Add the missing `__init__`."""
        if "__init__" in cls.members or cls.is_alias or _is_dataclass(cls) or not cls.bases:
            return
        parameters = [_parameter(field) for field in cls.attributes.values() if _is_field(field)]
        if parameters:
            owner = griffe.Parameter("self", kind=griffe.ParameterKind.positional_or_keyword)
            # The source shown for it is that of the class.
            init = griffe.Function(
                "__init__",
                lineno=cls.lineno,
                endlineno=cls.endlineno,
                parameters=griffe.Parameters(owner, *parameters),
            )
            cls.set_member("__init__", init)


def _is_dataclass(cls: griffe.Class) -> bool:
    return any("dataclass" in str(decorator.value) for decorator in cls.decorators)


def _is_field(attribute: griffe.Attribute) -> bool:
    if attribute.annotation is None or "property" in attribute.labels:
        return False
    # A ClassVar has a value on the class and none on its instances.
    of_class = attribute.labels == {"class-attribute"}
    return not (of_class or "AbstractVar" in str(attribute.annotation))


def _parameter(field: griffe.Attribute) -> griffe.Parameter:
    return griffe.Parameter(
        field.name,
        annotation=field.annotation,
        kind=griffe.ParameterKind.positional_or_keyword,
        default=None if field.value is None else _default(str(field.value)),
    )


def _default(text: str) -> str | None:
    """The default of a field, also if declared by a call such as `eqx.field(default=1)`."""
    value = ast.parse(text, mode="eval").body
    if not isinstance(value, ast.Call):
        return text
    name = ast.unparse(value.func)
    if name in ("positive", "distance", "real"):
        return ast.unparse(value.args[0]) if value.args else None
    if name != "eqx.field":
        return text
    return next((ast.unparse(k.value) for k in value.keywords if k.arg == "default"), None)
