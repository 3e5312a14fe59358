"""The closed-form posterior of a network in portable operations."""

import dataclasses
import functools
import operator

from gfsvi.plain.networks import Layers, TanhNetwork, first_moving
from gfsvi.plain.posterior import ConjugatePosterior
from gfsvi.portable.kernels import NotPortable, cross, diagonal
from gfsvi.portable.ops import AbstractOps, Tensor

SMALLEST = 1e-30
"""Of a prior's variance, which may be zero, in single precision."""


@dataclasses.dataclass(frozen=True)
class Seen:
    """Rows as the posterior sees them; lists have one entry per output.

    Args:
        x: The rows, (..., row, feature).
        means: The means, (..., row, 1).
        spreads: W(x) times a root of C, (..., row, point).
        explained: What the points explain of the prior, (..., row, point).
    """

    x: Tensor
    means: list[Tensor]
    spreads: list[Tensor]
    explained: Tensor


@dataclasses.dataclass(frozen=True)
class PortableProcess:
    """`plain.posterior.ConjugatePosterior` in portable operations."""

    posterior: ConjugatePosterior

    def __post_init__(self) -> None:
        if not isinstance(self.posterior.network, TanhNetwork):
            raise NotPortable("a network other than a multilayer perceptron with tanh")

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        return len(self.posterior.shift)

    def seen(self, ops: AbstractOps, x: Tensor) -> Seen:
        """What covariances between rows are made of."""
        posterior, whitener = self.posterior, ops.constant(self.posterior.whitener)
        between = cross(ops, posterior.kernel, x, ops.constant(posterior.points))
        explained = between @ ops.turned(whitener)
        through_prior = explained @ whitener
        values, tangents = self._tangents(ops, x)
        means, spreads = [], []
        for output in range(self.num_outputs):
            eps = ops.constant(posterior.eps[output if len(posterior.eps) > 1 else 0])
            design = tangents[output] + through_prior * eps
            means.append(values[output] + design @ ops.constant(posterior.shift[output][:, None]))
            root = posterior.root[output if len(posterior.root) > 1 else 0]
            spreads.append(design @ ops.constant(root))
        return Seen(x, means, spreads, explained)

    def variance(self, ops: AbstractOps, rows: Seen, output: int) -> Tensor:
        """The variance of an output at each row, (..., row, 1)."""
        left, share = self._left(ops, rows)
        known = ops.total(rows.spreads[output] * rows.spreads[output])
        return known + share * left

    def covariance(self, ops: AbstractOps, rows: Seen, others: Seen, output: int) -> Tensor:
        """Covariances of an output, (..., row, other)."""
        known = rows.spreads[output] @ ops.turned(others.spreads[output])
        left = cross(ops, self.posterior.kernel, rows.x, others.x)
        left = left - rows.explained @ ops.turned(others.explained)
        if self.posterior.near == 1:
            return known + left
        mine, theirs = (ops.sqrt(self._left(ops, seen)[1]) for seen in (rows, others))
        return known + mine * left * ops.turned(theirs)

    def _left(self, ops: AbstractOps, rows: Seen) -> tuple[Tensor, Tensor]:
        """What is left of the prior's variance at each row, and the share of it that counts."""
        prior = diagonal(ops, self.posterior.kernel, rows.x)
        zero, near = ops.constant(0.0), self.posterior.near
        left = ops.maximum(prior - ops.total(rows.explained * rows.explained), zero)
        if near == 1:
            return left, ops.constant(1.0)
        share = left / ops.maximum(prior, ops.constant(SMALLEST))
        return left, ops.constant(near) + ops.constant(1 - near) * share

    @functools.cached_property
    def _at_points(self) -> Layers:
        network, first = self.posterior.network, first_moving(self.posterior.variances)
        return network.linearized(self.posterior.points, first)[1]

    def _tangents(self, ops: AbstractOps, x: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """The network's outputs at rows, and its tangent kernel between rows and points."""
        network = self.posterior.network
        assert isinstance(network, TanhNetwork)
        variances, matrices = self.posterior.variances, network.matrices
        first = first_moving(variances)
        inputs = [x]
        for matrix in matrices[:-1]:
            inner = inputs[-1] @ ops.constant(matrix[:-1]) + ops.constant(matrix[-1:])
            inputs.append(ops.tanh(inner))
        last, at_points = matrices[-1], self._at_points
        outputs = inputs[-1] @ ops.constant(last[:-1]) + ops.constant(last[-1:])
        alike = [
            (values @ ops.constant(z.T) + ops.constant(1.0)) * ops.constant(variance)
            for values, (z, _), variance in zip(
                inputs[first:], at_points, variances[first:], strict=True
            )
        ]
        values = [ops.columns(outputs, [output]) for output in range(last.shape[1])]
        terms = [self._terms(ops, inputs[first:], at_points, alike, k) for k in range(len(values))]
        return values, [functools.reduce(operator.add, some) for some in terms]

    def _terms(
        self,
        ops: AbstractOps,
        inputs: list[Tensor],
        at_points: Layers,
        alike: list[Tensor],
        output: int,
    ) -> list[Tensor]:
        """What the weights of each layer add to the tangent kernel of one output."""
        network = self.posterior.network
        assert isinstance(network, TanhNetwork)
        terms, one = [alike[-1]], ops.constant(1.0)
        signal: Tensor = None
        for layer in reversed(range(1, len(inputs))):
            matrix = network.matrices[len(network.matrices) - len(inputs) + layer]
            slope = one - inputs[layer] * inputs[layer]
            if signal is None:
                signal = slope * ops.constant(matrix[:-1, output][None])
            else:
                signal = (signal @ ops.constant(matrix[:-1].T)) * slope
            moved = signal @ ops.constant(at_points[layer - 1][1][output].T)
            terms.append(moved * alike[layer - 1])
        return terms
