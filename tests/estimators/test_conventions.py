"""scikit-learn's own checks, and how people put estimators together."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.auto.solving import Solver

from .stand_in import learned_nothing, solve

KINDS = (GFSVIRegressor, GFSVIClassifier)
NOT_EXACTLY = {
    "check_sample_weight_equivalence_on_dense_data": "which rows are held out at random depends on "
    "their number, so that repeated rows are divided in another way than weighted ones"
}


@pytest.fixture
def stand_in(monkeypatch):
    """Estimators whose every part is real but the learning, which compiles anew for each shape."""
    monkeypatch.setattr(Solver, "solve", solve)
    monkeypatch.setattr("gfsvi.auto.updates.predicted_and_learned", learned_nothing)


@parametrize_with_checks([kind(random_state=0) for kind in KINDS])
def test_it_keeps_the_conventions(estimator, check, stand_in):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([kind() for kind in KINDS], expected_failed_checks=lambda _: NOT_EXACTLY)
def test_with_real_learning_it_keeps_the_conventions(estimator, check):
    check(estimator)


def test_a_clone_is_unfitted_and_has_the_same_settings(regressor):
    copy = clone(regressor)
    assert copy.get_params() == regressor.get_params()
    for ask in (copy.predict, copy.sample_y, copy.novelty):
        with pytest.raises(NotFittedError):
            ask(np.zeros((1, 5)))


def test_it_goes_into_a_pipeline(stand_in, numbers, houses, tiny):
    pipeline = make_pipeline(StandardScaler(), GFSVIRegressor(**tiny))
    mean, std = pipeline.fit(numbers, houses["price"]).predict(numbers, return_std=True)
    assert mean.shape == std.shape == (len(houses),)
    assert pipeline.score(numbers, houses["price"]) > 0.5


def test_several_targets_come_back_side_by_side(stand_in, numbers, houses, tiny):
    y = houses[["price", "age"]].to_numpy()
    mean, std = GFSVIRegressor(**tiny).fit(numbers, y).predict(numbers, return_std=True)
    assert mean.shape == std.shape == y.shape
    assert np.all(np.mean((mean - y) ** 2, axis=0) < 0.2 * y.var(axis=0))


def test_a_grid_search_chooses_among_its_settings(stand_in, numbers, houses, tiny):
    grid = {"gamma": [1e-8, 1e-4], "kernel": ["rbf", "matern52"]}
    search = GridSearchCV(GFSVIClassifier(**tiny), grid, cv=2)
    search.fit(numbers, houses["kind"])
    assert search.best_params_["gamma"] in grid["gamma"]
    assert search.best_estimator_.settings_.gamma == search.best_params_["gamma"]


def test_frames_as_output_of_the_steps_before_it_do_no_harm(stand_in, numbers, houses, tiny):
    pipeline = make_pipeline(StandardScaler(), GFSVIRegressor(**tiny))
    pipeline.set_output(transform="pandas").fit(numbers, houses["price"])
    assert pipeline[-1].feature_names_in_.tolist() == list(numbers.columns)
    assert isinstance(pipeline.predict(numbers), np.ndarray)


def test_columns_of_other_names_are_refused_in_words(stand_in, numbers, houses, tiny):
    estimator = GFSVIRegressor(**tiny).fit(numbers, houses["price"])
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.predict(numbers.rename(columns={"age": "years"}))


def test_weights_of_rows_are_routed_to_every_method(stand_in, numbers, houses, tiny):
    weights = np.where(houses["price"] > 300, 3.0, 0.5)
    seen = []

    class Watched(GFSVIRegressor):
        def fit(self, X, y, sample_weight=None):
            seen.append(None if sample_weight is None else len(sample_weight))
            return super().fit(X, y, sample_weight)

        def score(self, X, y, sample_weight=None):
            seen.append(None if sample_weight is None else -len(sample_weight))
            return super().score(X, y, sample_weight)

    with config_context(enable_metadata_routing=True):
        estimator = Watched(**tiny)
        estimator.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scaled = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), estimator)
        cross_validate(scaled, numbers, houses["price"], cv=2, params={"sample_weight": weights})
        asked = estimator.get_metadata_routing().partial_fit.requests
    assert seen == [30, -30, 30, -30]
    assert set(asked) == {"sample_weight"}
