"""Predictions of a table as a table of the same library."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportIndexIssue=false, reportOptionalMemberAccess=false, reportMissingImports=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAssignmentType=false
# pyright: reportIncompatibleMethodOverride=false, reportOptionalSubscript=false
# Stubs of frames, pictures and estimators are narrower than what they take.

import numpy as np
import pandas as pd
import pyarrow
import pytest

import gfsvi


def test_a_frame_of_pandas_gets_one_with_its_index(regressor, houses):
    some = houses.iloc[[7, 3, 30]]
    found = gfsvi.predict_table(regressor, some)
    assert isinstance(found, pd.DataFrame) and found.index.tolist() == [7, 3, 30]
    mean, std = regressor.predict(some, return_std=True)
    np.testing.assert_allclose(found["mean"], mean, rtol=1e-5)
    np.testing.assert_allclose(found["std"], std, rtol=1e-5)
    np.testing.assert_allclose(found["novelty"], regressor.novelty(some), atol=1e-6)


def test_the_interval_has_the_level_that_is_asked_for(regressor, houses):
    found = gfsvi.predict_table(regressor, houses, level=0.5)
    lower, upper = regressor.predict_interval(houses, 0.5)
    np.testing.assert_allclose(found["lower"], lower, rtol=1e-4)
    np.testing.assert_allclose(found["upper"], upper, rtol=1e-4)
    with pytest.raises(ValueError, match="level between 0 and 1; got 95"):
        gfsvi.predict_table(regressor, houses, level=95)


def test_arrow_gets_arrow(regressor, houses):
    found = gfsvi.predict_table(regressor, pyarrow.Table.from_pandas(houses))
    assert isinstance(found, pyarrow.Table)
    expected = gfsvi.predict_table(regressor, houses)
    np.testing.assert_array_equal(found["upper"].to_numpy(), expected["upper"])


def test_polars_gets_polars(regressor, classifier, houses):
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(houses)
    for model, column in ((regressor, "lower"), (classifier, "predicted")):
        found = gfsvi.predict_table(model, table)
        assert isinstance(found, polars.DataFrame)
        expected = gfsvi.predict_table(model, houses)
        assert found.columns == list(expected.columns)
        assert found[column].to_list() == expected[column].tolist()


def test_labels_have_probabilities(classifier, houses):
    found = gfsvi.predict_table(classifier, houses)
    names = [f"p_{label}" for label in classifier.classes_]
    np.testing.assert_allclose(found[names], classifier.predict_proba(houses), atol=1e-5)
    assert found["predicted"].tolist() == classifier.predict(houses).tolist()
