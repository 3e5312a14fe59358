"""The trees that a fit considers by itself."""

from typing import Any

MANY_ROWS, MANY_FEATURES = 5_000, 60
"""Beyond which features are binned, and trees are fewer and coarser."""


def default_trees(shape: tuple[int, ...], *, seed: int) -> list[Any]:
    """Boosted trees and randomised trees of scikit-learn for rows of this shape, not yet fitted."""
    from sklearn import ensemble

    if shape[0] > MANY_ROWS or shape[1] > MANY_FEATURES:
        boosted = ensemble.HistGradientBoostingRegressor(
            max_iter=400,
            learning_rate=0.08,
            max_leaf_nodes=63,
            l2_regularization=1.0,
            random_state=seed,
        )
        randomised = ensemble.ExtraTreesRegressor(
            100, min_samples_leaf=3, random_state=seed, n_jobs=-1
        )
        return [boosted, randomised]
    boosted = ensemble.GradientBoostingRegressor(
        n_estimators=300,
        learning_rate=0.08,
        max_depth=5,
        subsample=0.6,
        min_samples_leaf=5,
        max_features=0.5,
        random_state=seed,
    )
    return [boosted, ensemble.ExtraTreesRegressor(150, min_samples_leaf=2, random_state=seed)]
