"""A fit as one program of JAX, which needs neither this library nor its files."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.auto.targets import Labels
from gfsvi.numerics.extras import check_extra
from gfsvi.numerics.precision import double
from gfsvi.plain.conformal import nominal_levels
from gfsvi.predictives.base import AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.storage.files import write_bytes

if TYPE_CHECKING:
    from gfsvi.auto.fitted import Fitted

PLATFORMS = ("cpu", "cuda", "tpu")
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def check_exporting() -> None:
    """Raise unless what `jax.export` needs is installed."""
    check_extra("export", "exporting")


@double
def exported(fitted: "Fitted", quantiles: tuple[float, ...]) -> bytes:
    """The program that predicts any number of rows, serialised by `jax.export`.

    It maps rows of numbers (row, feature), in the order of `feature_names`, to a dictionary of
    `mean`, `std`, `epistemic_std`, `lower` and `upper` of the model's level, and `quantiles`
    (level, row); for labels of `probabilities` (row, class).
    """
    check_exporting()
    levels = levels_of(fitted)

    def predicted(x: jax.Array) -> dict[str, jax.Array]:
        row = ((x - fitted.input_centre) / fitted.input_spread)[None]
        predictive = fitted.target.on_user_scale(fitted.posterior.traced_prediction(row))
        if isinstance(predictive, CategoricalPredictive):
            return {"probabilities": predictive.probabilities[0]}
        return _numbers(predictive, levels, jnp.asarray(quantiles))

    # One row at a time inside, so that the number of rows can stay open.
    (rows,) = jax.export.symbolic_shape("rows")
    shape = fitted.settings.image_shape or (len(fitted.feature_names),)
    expected = jax.ShapeDtypeStruct((rows, *shape), jnp.float64)
    program = jax.jit(_by_row(predicted))
    return bytes(jax.export.export(program, platforms=PLATFORMS)(expected).serialize())


def export(
    model: "Fitted | Any", path: str | PathLike[str], quantiles: tuple[float, ...] = QUANTILES
) -> None:
    """Write the program that predicts rows to one file, which needs nothing but JAX.

    Args:
        model: A fitted estimator, or a `Fitted`.
        path: The file to write; `jax.export.deserialize(file.read_bytes()).call(x)` runs it.
        quantiles: Probabilities of the quantiles that it predicts beside mean and interval.
    """
    write_bytes(path, exported(getattr(model, "fitted_", model), quantiles))


def _by_row(predicted: Any) -> Any:
    def program(x: jax.Array) -> dict[str, jax.Array]:
        found = jax.vmap(predicted)(x)
        if "quantiles" in found:
            found["quantiles"] = jnp.moveaxis(found["quantiles"], 0, 1)
        return found

    return program


def levels_of(fitted: "Fitted") -> np.ndarray | None:
    """The level of the interval of each output; None for labels."""
    if isinstance(fitted.target, Labels):
        return None
    size = np.size(fitted.target.centre)
    if fitted.conformal == "none" or fitted.unseen is None:
        return np.full(size, fitted.level)
    return nominal_levels(fitted.unseen.surprise, fitted.unseen.weights, fitted.level)


def _numbers(
    predictive: Any, levels: np.ndarray | None, quantiles: jax.Array
) -> dict[str, jax.Array]:
    assert isinstance(predictive, AbstractRealPredictive) and levels is not None
    variance = predictive.epistemic_variance + predictive.aleatoric_variance
    tails = jnp.concatenate([(1 - levels) / 2, (1 + levels) / 2])
    ends = predictive.quantile(tails)[:, 0].reshape(2, len(levels), *predictive.mean.shape[1:])
    # Of several outputs each is at its own level.
    ends = ends[:, 0] if predictive.mean.ndim == 1 else jnp.diagonal(ends, axis1=1, axis2=2)
    return {
        "mean": predictive.mean[0],
        "std": jnp.sqrt(variance[0]),
        "epistemic_std": jnp.sqrt(predictive.epistemic_variance[0]),
        "lower": ends[0],
        "upper": ends[1],
        "quantiles": predictive.quantile(quantiles)[:, 0],
    }
