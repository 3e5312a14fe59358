"""Fitted regressors of scikit-learn as mean functions that files can hold."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

from typing import Any, cast

import equinox as eqx
import numpy as np

from gfsvi.functions.means import AbstractMean, Means
from gfsvi.functions.tree_mean import TreeMean
from gfsvi.numerics.types import Points

_LEAF = -1


class RegressorMean(AbstractMean):
    """Predictions of a fitted regressor, of which neither files nor programs of JAX know more."""

    regressor: Any = eqx.field(static=True)

    def at(self, x: Points) -> Means:
        raise ValueError(
            f"this needs a mean that JAX can evaluate; got a {type(self.regressor).__name__}. Use "
            'trees of scikit-learn or prior_mean="trees", or ask for predictions only.'
        )

    def in_numpy(self, x: np.ndarray) -> np.ndarray:
        """One row of values."""
        return np.reshape(np.asarray(self.regressor.predict(x), np.float64), (1, -1))


def as_mean_function(regressors: list[Any]) -> AbstractMean:
    """The average of fitted regressors as a mean function; sums of trees as arrays."""
    found = [_trees_of(regressor) for regressor in regressors]
    parts = [part for part in found if part is not None]
    if len(parts) < len(found):
        return RegressorMean(regressors[0] if len(regressors) == 1 else _Average(regressors))
    share = 1 / len(parts)
    trees = [(nodes, share * scale) for part in parts for nodes, scale in part[0]]
    return _joined(trees, share * sum(part[1] for part in parts))


def score_means(classifier: Any) -> list[TreeMean]:
    """The scores of a classifier of boosted trees, one mean function for each column of them."""
    base = np.ravel(classifier._baseline_prediction)
    stages = classifier._predictors
    return [
        _joined([(_histogram_nodes(stage[k].nodes), 1.0) for stage in stages], float(base[k]))
        for k in range(len(stages[0]))
    ]


class _Average:
    def __init__(self, regressors: list[Any]):
        self.regressors = regressors

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.mean([regressor.predict(x) for regressor in self.regressors], axis=0)


_Nodes = dict[str, np.ndarray]


def _trees_of(regressor: Any) -> tuple[list[tuple[_Nodes, float]], float] | None:
    """Trees with their factors, and what the sum begins with; None for other regressors."""
    from sklearn import ensemble, tree

    if isinstance(regressor, tree.DecisionTreeRegressor):
        return [(_nodes(regressor.tree_), 1.0)], 0.0
    if isinstance(regressor, ensemble.RandomForestRegressor | ensemble.ExtraTreesRegressor):
        trees = [_nodes(one.tree_) for one in regressor.estimators_]
        return [(nodes, 1 / len(trees)) for nodes in trees], 0.0
    if isinstance(regressor, ensemble.GradientBoostingRegressor) and regressor.init is None:
        trees = [_nodes(one.tree_) for one in regressor.estimators_[:, 0]]
        base = float(np.ravel(cast(Any, regressor.init_).constant_)[0])
        return [(nodes, float(regressor.learning_rate)) for nodes in trees], base
    if isinstance(regressor, ensemble.HistGradientBoostingRegressor):
        stages = [stage[0].nodes for stage in regressor._predictors]
        if any(np.any(nodes["is_categorical"]) for nodes in stages):
            return None
        base = float(np.ravel(regressor._baseline_prediction)[0])
        return [(_histogram_nodes(nodes), 1.0) for nodes in stages], base
    return None


def _nodes(tree: Any) -> _Nodes:
    is_leaf = tree.children_left == _LEAF
    own = np.arange(len(is_leaf))
    return {
        "feature": np.where(is_leaf, _LEAF, tree.feature),
        "threshold": tree.threshold,
        "left": np.where(is_leaf, own, tree.children_left),
        "right": np.where(is_leaf, own, tree.children_right),
        "value": np.where(is_leaf, tree.value[:, 0, 0], 0.0),
    }


def _histogram_nodes(nodes: np.ndarray) -> _Nodes:
    is_leaf, own = nodes["is_leaf"].astype(bool), np.arange(len(nodes))
    return {
        "feature": np.where(is_leaf, _LEAF, nodes["feature_idx"]),
        "threshold": nodes["num_threshold"],
        "left": np.where(is_leaf, own, nodes["left"]),
        "right": np.where(is_leaf, own, nodes["right"]),
        "value": np.where(is_leaf, nodes["value"], 0.0),
    }


def _joined(trees: list[tuple[_Nodes, float]], base: float) -> TreeMean:
    """All trees in one list of nodes."""
    sizes = [len(nodes["feature"]) for nodes, _ in trees]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    joined = {
        name: np.concatenate([nodes[name] for nodes, _ in trees])
        for name in ("feature", "threshold")
    }
    left, right = (
        np.concatenate(
            [nodes[name] + start for (nodes, _), start in zip(trees, starts, strict=True)]
        )
        for name in ("left", "right")
    )
    value = np.concatenate([scale * nodes["value"] for nodes, scale in trees])
    return TreeMean(
        joined["feature"].astype(np.int32),
        _rounded_down(joined["threshold"]),
        left.astype(np.int32),
        right.astype(np.int32),
        value.astype(np.float32),
        starts.astype(np.int32),
        base=base,
        depth=max(_depth(nodes) for nodes, _ in trees),
    )


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    """The largest numbers of single precision that are not above: x <= t for the same x."""
    rounded = threshold.astype(np.float32)
    return np.where(rounded > threshold, np.nextafter(rounded, np.float32(-np.inf)), rounded)


def _depth(nodes: _Nodes) -> int:
    depth, frontier = 0, np.array([0])
    while True:
        inner = frontier[nodes["feature"][frontier] != _LEAF]
        if len(inner) == 0:
            return depth
        depth, frontier = depth + 1, np.concatenate([nodes["left"][inner], nodes["right"][inner]])
