"""Jacobians of network outputs by parameters, leaf by leaf, each leaf seen as a matrix.

Two kinds share one set of products with a covariance: `OuterJacobian` keeps, for a dense layer,
the layer's inputs and back-propagated signals whose outer product the Jacobian is;
`ExplicitJacobian` holds the numbers themselves. Axes: point, output k, row i, column o.
"""

import functools
import operator
from abc import abstractmethod
from collections.abc import Iterable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from gfsvi.linalg import row_gram

BLOCK_ELEMENTS = 2**22
"""How many numbers of a Jacobian are held at once (32 MiB in float64)."""

Variances = Float[Array, "point k k"]
Grams = Float[Array, "k point other"]


class AbstractJacobian(eqx.Module):
    """Derivatives of k outputs at every point by one matrix of parameters."""

    @property
    @abstractmethod
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of the parameters."""

    @abstractmethod
    def multiplied_out(self) -> Float[Array, "point k weight"]:
        """The derivatives as rows of numbers."""

    @abstractmethod
    def scaled_variance(self, std: Float[Array, "row column"]) -> Variances:
        """J diag(std^2) J^T at each point."""

    @abstractmethod
    def scaled_gram(self, std: Float[Array, "row column"], other: "AbstractJacobian") -> Grams:
        """J diag(std^2) J'^T between all points, for each output."""

    @abstractmethod
    def kronecker_variance(self, left: Array, right: Array) -> Variances:
        """J (left left^T x right right^T) J^T at each point."""

    @abstractmethod
    def kronecker_gram(self, left: Array, right: Array, other: "AbstractJacobian") -> Grams:
        """J (left left^T x right right^T) J'^T between all points, for each output."""

    @abstractmethod
    def project(
        self, directions: Float[Array, "row column direction"]
    ) -> Float[Array, "point k direction"]:
        """J times each direction in parameter space."""


Jacobian = tuple[AbstractJacobian, ...]


class OuterJacobian(AbstractJacobian):
    """J[point, k] = (inputs[point], 1) (x) signals[point, k], never multiplied out.

    The one that the bias multiplies is left implicit: appending it would copy every input.
    """

    inputs: Float[Array, "point input"]
    signals: Float[Array, "point k column"]

    @property
    def matrix_shape(self) -> tuple[int, int]:
        return self.inputs.shape[-1] + 1, self.signals.shape[-1]

    def multiplied_out(self) -> Float[Array, "point k weight"]:
        product = jnp.einsum("pi,pko->pkio", self._with_one(), self.signals)
        return jnp.reshape(product, (*product.shape[:2], -1))

    def scaled_variance(self, std: Float[Array, "row column"]) -> Variances:
        variance = std**2
        weights = self.inputs**2 @ variance[:-1] + variance[-1]
        return _variance(weights[:, None, :] * self.signals, self.signals)

    def scaled_gram(self, std: Float[Array, "row column"], other: AbstractJacobian) -> Grams:
        num_outputs, num_columns = self.signals.shape[1:]
        per_column = len(self.inputs) * std.shape[0] * num_outputs
        width = max(1, min(num_columns, BLOCK_ELEMENTS // per_column))
        num_blocks = -(-num_columns // width)
        if num_blocks == 1:
            return self._gram_of_columns(other, self.signals, other.signals, std)
        padding = num_blocks * width - num_columns

        def blocks(array: Array) -> Array:
            padded = jnp.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, padding)])
            split = jnp.reshape(padded, (*padded.shape[:-1], num_blocks, width))
            return jnp.moveaxis(split, -2, 0)

        @jax.checkpoint
        def add_block(total: Grams, block: tuple[Array, Array, Array]) -> tuple[Grams, None]:
            return total + self._gram_of_columns(other, *block), None

        zeros = jnp.zeros((num_outputs, len(self.inputs), len(other.inputs)), jnp.float64)
        columns = (blocks(self.signals), blocks(other.signals), blocks(std))
        return jax.lax.scan(add_block, zeros, columns)[0]

    def kronecker_variance(self, left: Array, right: Array) -> Variances:
        of_inputs = jnp.sum(self._times(left) ** 2, axis=-1)
        whitened = self.signals @ right
        return of_inputs[:, None, None] * _variance(whitened, whitened)

    def kronecker_gram(self, left: Array, right: Array, other: AbstractJacobian) -> Grams:
        same = self is other
        of_inputs = _gram(self._times(left), other._times(left), same)
        mine, others = (jnp.swapaxes(j.signals @ right, 0, 1) for j in (self, other))
        return of_inputs * _gram(mine, others, same)

    def project(self, directions: Array) -> Float[Array, "point k direction"]:
        through_inputs = jnp.einsum("pi,ior,pko->pkr", self.inputs, directions[:-1], self.signals)
        return through_inputs + self.signals @ directions[-1]

    def _times(self, matrix: Float[Array, "row n"]) -> Float[Array, "point n"]:
        return self.inputs @ matrix[:-1] + matrix[-1]

    def _with_one(self) -> Float[Array, "point row"]:
        ones = jnp.ones((len(self.inputs), 1), self.inputs.dtype)
        return jnp.concatenate([self.inputs, ones], axis=1)

    def _gram_of_columns(
        self, other: "OuterJacobian", signals: Array, others: Array, std: Array
    ) -> Grams:
        def rows(inputs: Array, signals: Array) -> Array:
            product = jnp.einsum("pi,pko,io->kpio", inputs, signals, std)
            return jnp.reshape(product, (*product.shape[:2], -1))

        mine = rows(self._with_one(), signals)
        same = self is other
        return _gram(mine, mine if same else rows(other._with_one(), others), same)


class ExplicitJacobian(AbstractJacobian):
    """The derivatives themselves."""

    rows: Float[Array, "point k row column"]

    @property
    def matrix_shape(self) -> tuple[int, int]:
        return self.rows.shape[-2], self.rows.shape[-1]

    def multiplied_out(self) -> Float[Array, "point k weight"]:
        return jnp.reshape(self.rows, (*self.rows.shape[:2], -1))

    def scaled_variance(self, std: Float[Array, "row column"]) -> Variances:
        return _variance_of_rows(self.rows * std)

    def scaled_gram(self, std: Float[Array, "row column"], other: AbstractJacobian) -> Grams:
        return self._gram_through(lambda rows: rows * std, other)

    def kronecker_variance(self, left: Array, right: Array) -> Variances:
        return _variance_of_rows(_kronecker_product(self.rows, left, right))

    def kronecker_gram(self, left: Array, right: Array, other: AbstractJacobian) -> Grams:
        return self._gram_through(lambda rows: _kronecker_product(rows, left, right), other)

    def project(self, directions: Array) -> Float[Array, "point k direction"]:
        return jnp.einsum("pkio,ior->pkr", self.rows, directions)

    def _gram_through(self, transform, other: "ExplicitJacobian") -> Grams:
        mine, others = (
            jnp.reshape(jnp.swapaxes(transform(j.rows), 0, 1), (j.rows.shape[1], len(j.rows), -1))
            for j in (self, other)
        )
        return _gram(mine, others, self is other)


def as_matrix(leaf: Array) -> Float[Array, "row column"]:
    """A parameter array of any shape, seen as a matrix with its last axis as columns."""
    return jnp.reshape(leaf, (-1, leaf.shape[-1])) if leaf.ndim else jnp.reshape(leaf, (1, 1))


def total(arrays: Iterable[Array]) -> Array:
    """The sum over the leaves of a network."""
    return functools.reduce(operator.add, arrays)


def projected_gram(mine: Array, others: Array, same: bool) -> Grams:
    """Gram matrices, for each output, from projected rows with axes (point, k, direction)."""
    return _gram(jnp.swapaxes(mine, 0, 1), jnp.swapaxes(others, 0, 1), same)


def projected_variance(projected: Float[Array, "point k direction"]) -> Variances:
    """Covariance between the outputs at each point, from projected rows."""
    return _variance(projected, projected)


def _gram(mine: Array, others: Array, same: bool) -> Array:
    if same:
        return row_gram(mine)
    return mine.astype(jnp.float64) @ jnp.swapaxes(others.astype(jnp.float64), -1, -2)


def _variance(mine: Float[Array, "point k n"], others: Float[Array, "point k n"]) -> Variances:
    # A fused multiply and sum: thousands of tiny matrix products are slow on a CPU.
    return jnp.sum(mine[:, :, None, :] * others[:, None, :, :], axis=-1)


def _variance_of_rows(rows: Float[Array, "point k row column"]) -> Variances:
    flat = jnp.reshape(rows, (*rows.shape[:2], -1))
    return flat @ jnp.swapaxes(flat, -1, -2)


def _kronecker_product(rows: Array, left: Array, right: Array) -> Array:
    return jnp.einsum("pkio,ij,oq->pkjq", rows, left, right)
