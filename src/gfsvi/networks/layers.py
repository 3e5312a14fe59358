"""The stages that layered networks are made of."""

import itertools
import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, PRNGKeyArray

from gfsvi.networks.jacobian import ExplicitJacobian, OuterJacobian
from gfsvi.networks.layered import AbstractAffineStage, AbstractStage


class Dense(AbstractAffineStage):
    """x W + b."""

    width: int = eqx.field(static=True)

    def init(
        self, x: Array, *, key: PRNGKeyArray, dtype: DTypeLike, lengths: Array | None = None
    ) -> Array:
        """LeCun-normal weights; each unit's activation is centred on one of the inputs.

        With `lengths`, units change by about one over one length scale: w_i ~ N(0, 1 / l_i^2).
        """
        weight_key, row_key = jax.random.split(key)
        matrix = _matrix(x.shape[-1], self.width, weight_key, dtype)
        if lengths is not None:
            units = jnp.asarray(x.shape[-1] ** 0.5 / lengths, dtype)
            matrix = matrix.at[:-1].multiply(units[:, None])
        centres = x[jax.random.choice(row_key, len(x), (self.width,))]
        return matrix.at[-1].set(-jnp.einsum("oi,io->o", centres, matrix[:-1]))

    def apply(self, matrix: Array, x: Array) -> Array:
        _check_fan_in(self, matrix, x.shape[-1])
        return x @ matrix[:-1] + matrix[-1]

    def sample_outputs(self, matrix: Array, std: Array, x: Array, *, key: PRNGKeyArray) -> Array:
        return self.apply(matrix, x) + self._scattered(std, x, key)

    def perturbed_to_first_order(
        self, matrix: Array, std: Array, x: Array, incoming: Array | None, *, key: PRNGKeyArray
    ) -> tuple[Array, Array]:
        own = self._scattered(std, x, key)
        return self.apply(matrix, x), own if incoming is None else own + incoming @ matrix[:-1]

    def _scattered(self, std: Array, x: Array, key: PRNGKeyArray) -> Array:
        variance = jnp.square(x) @ jnp.square(std[:-1]) + jnp.square(std[-1])
        # Bounded away from zero, where the square root has no derivative.
        scatter = jnp.sqrt(jnp.maximum(variance, jnp.finfo(variance.dtype).tiny))
        return scatter * jax.random.normal(key, variance.shape, variance.dtype)

    def jacobian(self, x: Array, signals: Array) -> OuterJacobian:
        return OuterJacobian(x, signals)

    def jacobian_size(self, matrix: Array) -> int:
        return sum(matrix.shape) - 1  # the constant input of the bias is implicit


class Convolution(AbstractAffineStage):
    """A square convolution with stride 1 that keeps height and width (images are NHWC)."""

    channels: int = eqx.field(static=True)
    size: int = eqx.field(static=True, default=3)

    def init(
        self, x: Array, *, key: PRNGKeyArray, dtype: DTypeLike, lengths: Array | None = None
    ) -> Array:
        _check_image(x.shape[1:])
        return _matrix(self.size**2 * x.shape[-1], self.channels, key, dtype)

    def apply(self, matrix: Array, x: Array) -> Array:
        _check_image(x.shape[1:])
        _check_fan_in(self, matrix, self.size**2 * x.shape[-1])
        return self._filtered(matrix[:-1], x) + matrix[-1]

    def sample_outputs(self, matrix: Array, std: Array, x: Array, *, key: PRNGKeyArray) -> Array:
        return self.apply(matrix + std * jax.random.normal(key, std.shape, std.dtype), x)

    def perturbed_to_first_order(
        self, matrix: Array, std: Array, x: Array, incoming: Array | None, *, key: PRNGKeyArray
    ) -> tuple[Array, Array]:
        # One draw of the filters for all points, since pixels of an image share them; applied
        # together with the filters, so that patches and their gradient are computed once.
        step = std * jax.random.normal(key, std.shape, std.dtype)
        both = self.apply(jnp.concatenate([matrix, step], axis=1), x)
        value, own = both[..., : self.channels], both[..., self.channels :]
        return value, own if incoming is None else own + self._filtered(matrix[:-1], incoming)

    def _filtered(self, filters: Array, x: Array) -> Array:
        patches = self._patches(x)
        # One tall matrix: with several leading axes the gradient copies and transposes all patches.
        rows = jnp.reshape(patches, (-1, patches.shape[-1]))
        return jnp.reshape(rows @ filters, (*x.shape[:-1], filters.shape[-1]))

    def jacobian(self, x: Array, signals: Array) -> ExplicitJacobian:
        points, outputs = signals.shape[:2]
        patches = jnp.reshape(_with_one(self._patches(x)), (points, -1, self._num_rows(x)))
        # One product per image for all outputs: (row, pixel) by (pixel, output column).
        flat = jnp.reshape(signals, (points, outputs, -1, self.channels))
        flat = jnp.reshape(jnp.swapaxes(flat, 1, 2), (points, -1, outputs * self.channels))
        rows = jnp.swapaxes(patches, 1, 2) @ flat
        rows = jnp.reshape(rows, (points, -1, outputs, self.channels))
        return ExplicitJacobian(jnp.swapaxes(rows, 1, 2))

    def jacobian_size(self, matrix: Array) -> int:
        return matrix.size

    def _num_rows(self, x: Array) -> int:
        return self.size**2 * x.shape[-1] + 1

    def _patches(self, x: Array) -> Array:
        """The window of each filter at each pixel: height, width, input channel.

        Inside a loop on a CPU, XLA's own convolutions are twenty times slower than this copy and
        one matrix product, and their gradients a hundred times.
        """
        before, height, width = (self.size - 1) // 2, *x.shape[1:3]
        after = self.size - 1 - before
        padded = jnp.pad(x, ((0, 0), (before, after), (before, after), (0, 0)))
        shifts = itertools.product(range(self.size), repeat=2)
        views = [padded[:, down : down + height, along : along + width] for down, along in shifts]
        return jnp.concatenate(views, axis=-1)


class Activation(AbstractStage):
    """An element-wise function."""

    function: Callable[[Array], Array] = eqx.field(static=True)

    def apply(self, x: Array) -> Array:
        return self.function(x)


class MaxPool(AbstractStage):
    """The largest of every 2 x 2 pixels."""

    def apply(self, x: Array) -> Array:
        points, height, width, channels = x.shape
        if min(height, width) < 2:
            raise ValueError(
                f"max-pooling expects at least 2 x 2 pixels; got {height} x {width}. "
                "Use larger images or fewer convolutions."
            )
        x = x[:, : height - height % 2, : width - width % 2]
        windows = jnp.reshape(x, (points, height // 2, 2, width // 2, 2 * channels))
        # Maxima of long rows: a reduction over pairs of pixels has a three times slower gradient.
        across = jnp.maximum(windows[:, :, 0], windows[:, :, 1])
        return jnp.maximum(across[..., :channels], across[..., channels:])


class Flatten(AbstractStage):
    """Flatten each point to one row."""

    def apply(self, x: Array) -> Array:
        return jnp.reshape(x, (len(x), -1))


def _matrix(fan_in: int, fan_out: int, key: PRNGKeyArray, dtype: DTypeLike) -> Array:
    """LeCun-normal weights over a row of zero biases."""
    weights = jax.random.normal(key, (fan_in, fan_out), dtype) / math.sqrt(fan_in)
    return jnp.concatenate([weights, jnp.zeros((1, fan_out), dtype)])


def _with_one(x: Array) -> Array:
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], axis=-1)


def _check_image(shape: tuple[int, ...]) -> None:
    if len(shape) != 3:
        got = ", ".join(["point", *map(str, shape)])
        raise ValueError(
            f"a convolution expects images (point, height, width, channel); got ({got}). "
            "For images with one channel, add its axis: x[..., None]."
        )


def _check_fan_in(stage: AbstractAffineStage, matrix: Array, fan_in: int) -> None:
    if matrix.shape[0] != fan_in + 1:
        raise ValueError(
            f"{type(stage).__name__} expects {matrix.shape[0] - 1} numbers per point; got "
            f"{fan_in}. Pass inputs of the shape that the weights were initialised for."
        )
