"""MAPIE around our estimators as they are; run by `make test-peers`, which installs it."""

import numpy as np
import pytest

from gfsvi import GFSVIClassifier, GFSVIRegressor

mapie = pytest.importorskip("mapie")
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(300, 2))
Y = X[:, 0] ** 2 + 0.2 * RANDOM.normal(size=300)


@pytest.mark.parametrize("prefit", [True, False])
def test_split_conformal_regression(tiny, prefit):
    from mapie.regression import SplitConformalRegressor

    ours = GFSVIRegressor(**tiny)
    wrapped = SplitConformalRegressor(
        ours.fit(X[:100], Y[:100]) if prefit else ours, confidence_level=0.8, prefit=prefit
    )
    wrapped = wrapped if prefit else wrapped.fit(X[:100], Y[:100])
    points, ends = wrapped.conformalize(X[100:200], Y[100:200]).predict_interval(X[200:])
    assert points.shape == (100,) and ends.shape == (100, 2, 1)
    inside = np.mean((ends[:, 0, 0] <= Y[200:]) & (Y[200:] <= ends[:, 1, 0]))
    assert inside == pytest.approx(0.8, abs=0.15)


def test_jackknife_and_cross_conformal_regression(tiny):
    from mapie.regression import CrossConformalRegressor

    wrapped = CrossConformalRegressor(GFSVIRegressor(**tiny), confidence_level=0.8, cv=3)
    wrapped.fit_conformalize(X[:90], Y[:90])
    _, ends = wrapped.predict_interval(X[200:])
    assert np.mean((ends[:, 0, 0] <= Y[200:]) & (Y[200:] <= ends[:, 1, 0])) > 0.6


def test_split_conformal_classification(tiny):
    from mapie.classification import SplitConformalClassifier

    labels = np.array(["low", "middle", "high"])[np.digitize(Y, [0.3, 1.0])]
    ours = GFSVIClassifier(**tiny).fit(X[:100], labels[:100])
    wrapped = SplitConformalClassifier(ours, confidence_level=0.8, prefit=True)
    _, sets = wrapped.conformalize(X[100:200], labels[100:200]).predict_set(X[200:])
    numbers = ours.class_numbers(labels[200:])
    assert np.mean(sets[np.arange(100), numbers, 0]) > 0.65
