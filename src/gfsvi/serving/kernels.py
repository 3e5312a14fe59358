"""Kernels of a model file."""

from collections.abc import Callable

import numpy as np

from gfsvi.plain.combined_kernels import ProductKernel, RestrictedKernel, SumKernel
from gfsvi.plain.kernels import CORRELATIONS, PlainKernel, StationaryKernel
from gfsvi.plain.time_kernels import (
    ConstantKernel,
    IntegratedBrownianKernel,
    LinearKernel,
    LocallyPeriodicKernel,
    PeriodicKernel,
)
from gfsvi.serving.parts import NotServed, Part, chosen


def kernel_of(part: Part) -> PlainKernel:
    """The kernel that a part describes."""
    return chosen(part, _KINDS)(part)


def _stationary(name: str) -> Callable[[Part], StationaryKernel]:
    return lambda part: StationaryKernel(
        CORRELATIONS[name], _row(part.lengthscale), float(part.variance)
    )


def _periodic(part: Part) -> PeriodicKernel:
    return PeriodicKernel(_row(part.lengthscale), float(part.variance), _row(part.period))


def _locally_periodic(part: Part) -> LocallyPeriodicKernel:
    drift = (_row(part.lengthscale), float(part.variance))
    return LocallyPeriodicKernel(*drift, _row(part.period), _row(part.periodic_lengthscale))


def _restricted(part: Part) -> RestrictedKernel:
    columns = tuple(part.dimensions)
    if not columns or not all(type(column) is int and column >= 0 for column in columns):
        raise NotServed("columns by name")
    return RestrictedKernel(kernel_of(part.kernel), columns)


_KINDS: dict[str, Callable[[Part], PlainKernel]] = {
    **{f"kernel:{name}": _stationary(name) for name in CORRELATIONS},
    "kernel:constant": lambda part: ConstantKernel(float(part.variance)),
    "kernel:linear": lambda part: LinearKernel(_row(part.variance)),
    "kernel:integrated_brownian": lambda part: IntegratedBrownianKernel(_row(part.variance)),
    "kernel:periodic": _periodic,
    "kernel:locally_periodic": _locally_periodic,
    "kernel:sum": lambda part: SumKernel(tuple(map(kernel_of, part.terms))),
    "kernel:product": lambda part: ProductKernel(tuple(map(kernel_of, part.factors))),
    "kernel:active_dimensions": _restricted,
}


def _row(values: np.ndarray | float | tuple[float, ...]) -> np.ndarray:
    return np.reshape(np.asarray(values, np.float64), (1, -1))
