"""Whether the parts of a fit that was read from a file fit together: shapes alone are computed."""

import math

import jax
import numpy as np

from gfsvi.auto.novelty import Novelty, VarianceShare
from gfsvi.auto.targets import Labels, Numbers
from gfsvi.functions.tree_mean import TreeMean
from gfsvi.model import Model
from gfsvi.numerics.batching import MIN_BLOCK
from gfsvi.numerics.precision import double
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive
from gfsvi.tables import Preparation


def check_scale(centre: np.ndarray | float, spread: np.ndarray | float, shape: object) -> None:
    """Raise unless a scale is finite, invertible and has one number, or this shape."""
    for values in (centre, spread):
        if np.shape(values) not in ((), shape) or not np.all(np.isfinite(values)):
            raise ValueError("a scale that does not fit")
    if not np.all(np.asarray(spread) > 0):
        raise ValueError("a scale that is not positive")


def check_preparation(
    preparation: Preparation, feature_names: tuple[str, ...], target: Numbers | Labels
) -> None:
    """Raise unless a preparation makes these features and this kind of target."""
    classes = target.classes if isinstance(target, Labels) else None
    made = (preparation.task, preparation.classes, preparation.feature_names)
    if made != (target.task, classes, feature_names):
        raise ValueError("a preparation of other features or targets")


@double
def check_prediction(
    posterior: Model, target: Numbers | Labels, row_shape: tuple[int, ...], num_targets: int | None
) -> None:
    """Raise unless the model predicts targets of this kind at rows of this shape."""

    def predict(x: jax.Array) -> AbstractPredictive:
        return target.on_user_scale(posterior.traced_prediction(x))

    _check_finite(posterior)
    predictive = jax.eval_shape(predict, _rows(row_shape))
    if isinstance(target, Labels):
        if not isinstance(predictive, CategoricalPredictive):
            raise ValueError("a model of numbers for labels")
        if predictive.log_draws.shape[1:] != (MIN_BLOCK, len(target.classes)):
            raise ValueError("a model of other classes")
        return
    if not isinstance(predictive, AbstractRealPredictive):
        raise ValueError("a model of labels for numbers")
    several = predictive.mean.shape[1:]
    if len(predictive.mean.shape) > 2 or math.prod(several) != (num_targets or math.prod(several)):
        raise ValueError("a model of other targets")
    check_scale(target.centre, target.spread, several)


@double
def check_novelty(measure: Novelty | VarianceShare, row_shape: tuple[int, ...]) -> None:
    """Raise unless the measure of novelty takes rows of this shape."""
    _check_finite(measure)
    if jax.eval_shape(measure.shares, _rows(row_shape)).shape != (MIN_BLOCK,):
        raise ValueError("a novelty of another shape")


def check_trees(model: Model, num_features: int) -> None:
    """Raise unless all trees of a model are trees of so many features."""
    for leaf in jax.tree.leaves(model, is_leaf=lambda node: isinstance(node, TreeMean)):
        if isinstance(leaf, TreeMean):
            leaf.trees.check(num_features)


def _rows(shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct((MIN_BLOCK, *shape), np.float64)


def _check_finite(tree: Model | Novelty | VarianceShare) -> None:
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f" and not np.isfinite(leaf).all():
            raise ValueError("numbers that are not finite")
