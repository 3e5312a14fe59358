"""Kernels as code: what `repr` shows makes the kernel again."""

import dataclasses
import functools

from gfsvi.numerics.printing import text_of


@functools.singledispatch
def code_of(kernel: object, digits: int) -> str:
    """The call that makes a kernel, with all of its numbers; classes may register another form."""
    fields = dataclasses.fields(kernel)  # pyright: ignore[reportArgumentType]
    given = [f"{field.name}={text_of(getattr(kernel, field.name), digits)}" for field in fields]
    return f"{type(kernel).__name__}({', '.join(given)})"
