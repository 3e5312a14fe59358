"""The trees that a fit considers by itself."""

from typing import Any

MANY_ROWS, MANY_FEATURES = 5_000, 60
"""Beyond which features are binned."""
MOST_ROWS = 20_000
"""Beyond which boosted trees have more leaves, and randomised ones are fewer."""
ROWS_PER_LEAF = 50_000
"""Beyond which the leaves of randomised trees have more than one row, to keep files small."""


def default_trees(shape: tuple[int, ...], *, seed: int) -> list[Any]:
    """Boosted trees and randomised trees of scikit-learn for rows of this shape, not yet fitted."""
    from sklearn import ensemble

    rows, features = shape
    if rows > MANY_ROWS or features > MANY_FEATURES:
        is_large = rows > MOST_ROWS
        boosted = ensemble.HistGradientBoostingRegressor(
            max_iter=400,
            learning_rate=0.08,
            max_leaf_nodes=255 if is_large else 63,
            min_samples_leaf=10 if is_large else 20,
            l2_regularization=1.0,
            random_state=seed,
        )
        randomised = ensemble.ExtraTreesRegressor(
            60 if is_large else 100,
            min_samples_leaf=1 + rows // ROWS_PER_LEAF if rows > MANY_ROWS else 3,
            random_state=seed,
            n_jobs=-1,
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
