"""Two ways to compile: for what runs often, and for what runs once."""

from collections.abc import Callable
from typing import Any, TypeVar

import equinox as eqx

F = TypeVar("F", bound=Callable[..., Any])


def compiled_once(function: F) -> F:
    """Compile a function that is called once or twice in half the time, for slower loops in it."""
    return eqx.filter_jit(function, compiler_options={"xla_backend_optimization_level": 0})
