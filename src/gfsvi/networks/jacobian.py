"""Jacobians of network outputs by the parameters, leaf by leaf, each leaf viewed as a matrix.

Two kinds share one interface: `OuterJacobian` stores, for a dense layer, the inputs and the
back-propagated signals of which the Jacobian is the outer product; `ExplicitJacobian` stores all
elements. Axes: point, output k, row i, column o.
"""

import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Self, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from gfsvi.numerics.linalg import row_gram

BLOCK_ELEMENTS = 2**22
"""Maximum number of elements of a Jacobian held at once (32 MiB in float64)."""

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
        """The derivatives as flat rows."""

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

    @abstractmethod
    def rotated(self, left: Float[Array, "row n"], right: Float[Array, "column m"]) -> Self:
        """Derivatives by the parameters in a rotated basis, the columns of `left` and `right`."""

    @abstractmethod
    def combined(self, weights: Float[Array, "point k r"]) -> Self:
        """Derivatives of weighted sums of the outputs, with weights per point."""

    @abstractmethod
    def sum_of_squares(self) -> Float[Array, "row column"]:
        """The squared derivatives by each parameter, summed over points and outputs."""

    @abstractmethod
    def second_moments(self) -> tuple[Float[Array, "row row"], Float[Array, "column column"]]:
        """Products of the derivatives by two rows, and by two columns, summed over the rest."""


Jacobian = tuple[AbstractJacobian, ...]
J = TypeVar("J", bound=AbstractJacobian)


class OuterJacobian(AbstractJacobian):
    """J[point, k] = (inputs[point], 1) (x) signals[point, k], without forming the product.

    The constant input of the bias is left implicit: appending it would copy all inputs. In a
    rotated basis no input is constant, and none is implicit.
    """

    inputs: Float[Array, "point input"]
    signals: Float[Array, "point k column"]
    has_implicit_one: bool = eqx.field(static=True, default=True)

    @property
    def matrix_shape(self) -> tuple[int, int]:
        return self.inputs.shape[-1] + self.has_implicit_one, self.signals.shape[-1]

    def multiplied_out(self) -> Float[Array, "point k weight"]:
        product = jnp.einsum("pi,pko->pkio", self._with_one(), self.signals)
        return jnp.reshape(product, (*product.shape[:2], -1))

    def scaled_variance(self, std: Float[Array, "row column"]) -> Variances:
        weights = self._through(self.inputs**2, std**2)
        return _variance(weights[:, None, :] * self.signals, self.signals)

    def scaled_gram(self, std: Float[Array, "row column"], other: AbstractJacobian) -> Grams:
        other = _checked(other, OuterJacobian)
        num_points, num_outputs, num_columns = self.signals.shape
        num_pairs = num_points * (num_points + 1) // 2
        # Products of two inputs serve all outputs; for few points they are also smaller.
        fewer = num_pairs < num_points * num_outputs * num_columns
        if self is other and fewer and num_pairs * std.shape[0] <= BLOCK_ELEMENTS:
            return self._gram_by_pairs(std)
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
        other = _checked(other, OuterJacobian)
        same = self is other
        of_inputs = _gram(self._times(left), other._times(left), same)
        mine, others = (jnp.swapaxes(j.signals @ right, 0, 1) for j in (self, other))
        return of_inputs * _gram(mine, others, same)

    def project(self, directions: Array) -> Float[Array, "point k direction"]:
        if not self.has_implicit_one:
            return jnp.einsum("pi,ior,pko->pkr", self.inputs, directions, self.signals)
        through_inputs = jnp.einsum("pi,ior,pko->pkr", self.inputs, directions[:-1], self.signals)
        return through_inputs + self.signals @ directions[-1]

    def rotated(self, left: Array, right: Array) -> "OuterJacobian":
        return OuterJacobian(self._times(left), self.signals @ right, has_implicit_one=False)

    def combined(self, weights: Float[Array, "point k r"]) -> "OuterJacobian":
        signals = jnp.einsum("pkr,pko->pro", weights, self.signals)
        return OuterJacobian(self.inputs, signals, self.has_implicit_one)

    def sum_of_squares(self) -> Float[Array, "row column"]:
        return (self._with_one() ** 2).T @ jnp.sum(self.signals**2, axis=1)

    def second_moments(self) -> tuple[Float[Array, "row row"], Float[Array, "column column"]]:
        inputs = self._with_one()
        of_inputs = jnp.sum(inputs**2, axis=1)[:, None, None]
        of_signals = jnp.sum(self.signals**2, axis=(1, 2))[:, None]
        columns = jnp.einsum("pko,pkq->oq", of_inputs * self.signals, self.signals)
        return (of_signals * inputs).T @ inputs, columns

    def _times(self, matrix: Float[Array, "row n"]) -> Float[Array, "point n"]:
        return self._through(self.inputs, matrix)

    def _through(self, inputs: Array, matrix: Float[Array, "row n"]) -> Float[Array, "point n"]:
        return inputs @ matrix[:-1] + matrix[-1] if self.has_implicit_one else inputs @ matrix

    def _with_one(self) -> Float[Array, "point row"]:
        if not self.has_implicit_one:
            return self.inputs
        ones = jnp.ones((len(self.inputs), 1), self.inputs.dtype)
        return jnp.concatenate([self.inputs, ones], axis=1)

    def _gram_by_pairs(self, std: Float[Array, "row column"]) -> Grams:
        """sum_io a_pi a_qi s_io^2 d_pko d_qko, summing over i once for all outputs."""
        first, second = np.triu_indices(len(self.inputs))
        inputs, signals = self._with_one().astype(jnp.float64), self.signals.astype(jnp.float64)
        products = (inputs[first] * inputs[second]) @ jnp.square(std.astype(jnp.float64))
        pairs = jnp.einsum("rko,rko,ro->kr", signals[first], signals[second], products)
        num_points = len(self.inputs)
        place = np.zeros((num_points, num_points), int)
        place[first, second] = place[second, first] = np.arange(len(first))
        return pairs[:, place]

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
    """All derivatives, stored explicitly."""

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

    def rotated(self, left: Array, right: Array) -> "ExplicitJacobian":
        return ExplicitJacobian(_kronecker_product(self.rows, left, right))

    def combined(self, weights: Float[Array, "point k r"]) -> "ExplicitJacobian":
        return ExplicitJacobian(jnp.einsum("pkr,pkio->prio", weights, self.rows))

    def sum_of_squares(self) -> Float[Array, "row column"]:
        return jnp.sum(self.rows**2, axis=(0, 1))

    def second_moments(self) -> tuple[Float[Array, "row row"], Float[Array, "column column"]]:
        rows = jnp.einsum("pkio,pkjo->ij", self.rows, self.rows)
        return rows, jnp.einsum("pkio,pkiq->oq", self.rows, self.rows)

    def _gram_through(self, transform: Callable[[Array], Array], other: AbstractJacobian) -> Grams:
        other = _checked(other, ExplicitJacobian)
        mine, others = (
            jnp.reshape(jnp.swapaxes(transform(j.rows), 0, 1), (j.rows.shape[1], len(j.rows), -1))
            for j in (self, other)
        )
        return _gram(mine, others, self is other)


def _checked(jacobian: AbstractJacobian, kind: type[J]) -> J:
    if not isinstance(jacobian, kind):
        got = type(jacobian).__name__
        raise TypeError(f"expected two Jacobians of one kind, {kind.__name__}; got {got}.")
    return jacobian


def as_matrix(leaf: Array) -> Float[Array, "row column"]:
    """A parameter array of any shape, viewed as a matrix with its last axis as columns."""
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
    # Fused multiply and sum: thousands of tiny matrix products are slow on a CPU.
    return jnp.sum(mine[:, :, None, :] * others[:, None, :, :], axis=-1)


def _variance_of_rows(rows: Float[Array, "point k row column"]) -> Variances:
    flat = jnp.reshape(rows, (*rows.shape[:2], -1))
    return flat @ jnp.swapaxes(flat, -1, -2)


def _kronecker_product(rows: Array, left: Array, right: Array) -> Array:
    return jnp.einsum("pkio,ij,oq->pkjq", rows, left, right)
