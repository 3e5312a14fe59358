"""Draws for ArviZ; `make test-peers` installs it."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import numpy as np
import pytest

from gfsvi import GFSVIRegressor, to_arviz

from .conftest import TINY

arviz = pytest.importorskip("arviz")


def test_draws_are_those_of_the_fit(regressor, houses):
    data = to_arviz(regressor, houses, houses["price"], num_draws=400)
    draws = data["posterior_predictive"]["y"]
    assert draws.dims == ("chain", "draw", "row") and draws.shape == (1, 400, 60)
    mean, std = regressor.predict(houses, return_std=True)
    error = np.asarray(draws.mean(("chain", "draw"))) - mean
    assert np.all(np.abs(error) < 5 * std / np.sqrt(400))
    np.testing.assert_allclose(np.asarray(draws.std(("chain", "draw"))), std, rtol=0.3)


def test_what_was_observed_is_beside_them(regressor, houses):
    data = to_arviz(regressor, houses, houses["price"], num_draws=10)
    np.testing.assert_array_equal(data["observed_data"]["y"], houses["price"])
    expected = regressor.predict_distribution(houses).log_prob(houses["price"].to_numpy())
    found = np.asarray(data["log_likelihood"]["y"])
    np.testing.assert_allclose(found, np.broadcast_to(expected, (1, 10, 60)))


def test_labels_are_class_numbers(classifier, houses):
    data = to_arviz(classifier, houses, houses["kind"], num_draws=300)
    draws = data["posterior_predictive"]
    assert draws.attrs["classes"] == classifier.classes_.tolist()
    share = np.mean(np.asarray(draws["y"])[0] == 0, axis=0)
    np.testing.assert_allclose(share, classifier.predict_proba(houses)[:, 0], atol=0.15)
    assert data["observed_data"]["y"].values.tolist() == [
        classifier.classes_.tolist().index(kind) for kind in houses["kind"]
    ]


def test_several_targets_are_a_dimension(houses):
    y = houses[["price", "rooms"]].to_numpy(float)
    model = GFSVIRegressor(**TINY, likelihood="normal").fit(houses[["size"]], y)
    draws = to_arviz(model, houses[["size"]], num_draws=5)["posterior_predictive"]["y"]
    assert draws.dims == ("chain", "draw", "row", "target")
    assert draws.coords["target"].values.tolist() == ["y1", "y2"]
