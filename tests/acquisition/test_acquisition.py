"""Which rows to measure next: formulas beside quadrature and sampling, and the search."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from gfsvi import GFSVIRegressor
from gfsvi.acquisition import Confidence, Improvement, Information, Thompson, Uncertainty, suggest
from gfsvi.acquisition.base import State
from gfsvi.acquisition.improvement import log_expected_improvement
from gfsvi.acquisition.suggestions import ACQUISITIONS, known_rows
from gfsvi.acquisition.surrogate import Surrogate, given
from gfsvi.acquisition.thompson import DrawnFunction

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(25, 2))
TOP = np.array([0.3, -0.2])
Y = 5 - np.sum((X - TOP) ** 2, axis=1) + 0.02 * RANDOM.normal(size=25)
OTHERS = RANDOM.uniform(-2, 2, size=(7, 2))


@pytest.fixture(scope="module")
def model():
    return GFSVIRegressor(hidden=(20,), kernel="rbf", random_state=0).fit(X, Y)


@pytest.fixture(scope="module")
def surrogate(model):
    return Surrogate(model.fitted_)


def state(surrogate, pending=OTHERS[:0], best=4.9, seed=0):
    return State(surrogate, best, pending, np.random.default_rng(seed))


def test_means_and_spreads_are_those_of_predictions(model, surrogate):
    mean, std = surrogate.marginals(OTHERS)
    joint_mean, cov = surrogate.joint(OTHERS)
    predictive = model.predict_distribution(OTHERS)
    np.testing.assert_allclose(mean, predictive.mean)
    np.testing.assert_allclose(joint_mean, predictive.mean)
    np.testing.assert_allclose(std, predictive.epistemic_std)
    np.testing.assert_allclose(np.sqrt(np.diagonal(cov)), std, rtol=1e-6)
    np.testing.assert_allclose(surrogate.noise(OTHERS), predictive.aleatoric_std**2)
    turned, _ = dataclasses.replace(surrogate, goal="min").joint(OTHERS)
    np.testing.assert_allclose(turned, -predictive.mean)


@pytest.mark.parametrize("mean", [-0.4, 0.0, 1.3])
@pytest.mark.parametrize("best", [-0.9, 0.0, 2.0])
def test_expected_improvement_is_its_integral(mean, best):
    std = 0.7
    expected, _ = integrate.quad(
        lambda f: max(f - best, 0) * stats.norm.pdf(f, mean, std), best, mean + 12 * std
    )
    found = log_expected_improvement(np.array([mean]), np.array([std]), best)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-7)


def test_expected_improvement_has_a_logarithm_where_it_underflows():
    z = np.array([-0.999999, -1.000001, -30.0, -1e4, -1e7, -1e9])
    found = log_expected_improvement(z, np.ones(6), 0.0)
    assert np.all(np.isfinite(found)) and np.all(np.diff(found) < 0)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    # E[max(f, 0)] = pdf(z) (1 / z^2 - 3 / z^4 + ...) for very negative z
    leading = stats.norm.logpdf(-30) - 2 * np.log(30) + np.log1p(-3 / 900 + 15 / 900**2)
    np.testing.assert_allclose(found[2], leading, rtol=1e-7)


def test_rows_given_others_are_those_of_the_conditional_gaussian(surrogate):
    mean, cov = surrogate.joint(OTHERS)
    noise = np.diag(surrogate.noise(OTHERS[:3]))
    for noisy, added in ((False, 0.0), (True, noise)):
        at = given(surrogate, OTHERS[3:], OTHERS[:3], noisy)
        inverse = np.linalg.inv(cov[:3, :3] + added)
        expected = cov[3:, 3:] - cov[3:, :3] @ inverse @ cov[:3, 3:]
        np.testing.assert_allclose(at.variance, np.diagonal(expected), rtol=1e-4, atol=1e-9)
        values = mean[:3] + at.factor @ np.array([1.0, -2.0, 0.5])
        moved = mean[3:] + cov[3:, :3] @ inverse @ (values - mean[:3])
        found = at.mean + np.array([1.0, -2.0, 0.5]) @ at.slopes
        np.testing.assert_allclose(found, moved, rtol=1e-4)


def test_improvement_of_a_batch_is_that_over_its_best_row(surrogate):
    pending, best = OTHERS[:2], 3.0
    mean, cov = surrogate.joint(OTHERS)
    draws = np.random.default_rng(1).multivariate_normal(mean, cov, 400_000)
    before = np.maximum(draws[:, :2].max(axis=1), best)
    expected = np.maximum(draws[:, 2:] - before[:, None], 0).mean(axis=0)
    scores = Improvement(1024).scores(state(surrogate, pending, best))(OTHERS[2:])
    np.testing.assert_allclose(np.exp(scores), expected, rtol=0.03, atol=0.002)


def test_information_of_a_batch_is_that_of_its_joint_entropy(surrogate):
    gains = [
        Information().scores(state(surrogate, OTHERS[:n]))(OTHERS[n : n + 1])[0] for n in range(5)
    ]
    _, cov = surrogate.joint(OTHERS[:5])
    scaled = cov / surrogate.noise(OTHERS[:5])[:, None]
    expected = 0.5 * np.linalg.slogdet(np.eye(5) + scaled)[1]
    np.testing.assert_allclose(sum(gains), expected, rtol=1e-5)


def test_confidence_and_uncertainty_count_what_the_batch_leaves(surrogate):
    mean, std = surrogate.marginals(OTHERS)
    np.testing.assert_allclose(Uncertainty().scores(state(surrogate))(OTHERS), std)
    np.testing.assert_allclose(
        Confidence(3.0).scores(state(surrogate))(OTHERS), mean + 3 * std, rtol=1e-12
    )
    again = Uncertainty().scores(state(surrogate, OTHERS[:1]))(OTHERS[:1])
    assert again[0] < 0.5 * std[0]


def test_a_drawn_function_remembers_its_values(surrogate):
    drawn = DrawnFunction(surrogate, np.random.default_rng(3))
    first = drawn(OTHERS[:4])
    later = drawn(np.concatenate([OTHERS[4:], OTHERS[:4]]))
    np.testing.assert_allclose(later[3:], first, atol=2e-3 * np.std(first))


class Unit:
    """In place of random numbers, all zeros but a one at this place."""

    def __init__(self, place):
        self.left = list(np.eye(len(OTHERS))[place])

    def normal(self, size):
        drawn, self.left = self.left[:size], self.left[size:]
        return np.array(drawn)


def test_drawn_functions_have_the_covariance_of_the_model(surrogate):
    mean, cov = surrogate.joint(OTHERS)
    columns = []
    for place in range(len(OTHERS)):
        drawn = DrawnFunction(surrogate, Unit(place))
        columns.append(np.concatenate([drawn(OTHERS[:3]), drawn(OTHERS[3:])]) - mean)
    root = np.stack(columns, axis=1)
    np.testing.assert_allclose(root @ root.T, cov, rtol=1e-4, atol=1e-6 * cov.max())


def test_suggestions_find_the_top_of_a_hill(model):
    for goal, sign in (("max", 1.0), ("min", -1.0)):
        turned = model if goal == "max" else GFSVIRegressor(kernel="rbf", random_state=0).fit(X, -Y)
        found = suggest(turned, goal=goal)
        assert np.linalg.norm(found.rows[0] - TOP) < 0.15
        assert abs(sign * found.best - Y.max()) < 0.1 and found.chance[0] > 0.5


@pytest.mark.parametrize("by", ACQUISITIONS)
def test_rows_of_a_batch_differ_and_have_reasons(model, by):
    found = suggest(model, {"x1": (-1, 1, 0.5), "x2": [-1, 0, 1]}, batch=4, by=by, seed=1)
    assert len(np.unique(found.rows, axis=0)) == 4
    assert set(found.rows[:, 0]) <= {-1, -0.5, 0, 0.5, 1} and set(found.rows[:, 1]) <= {-1, 0, 1}
    assert len(found.reasons) == 4 and all("best so far" in text for text in found.reasons)
    again = suggest(model, {"x1": (-1, 1, 0.5), "x2": [-1, 0, 1]}, batch=4, by=by, seed=1)
    np.testing.assert_array_equal(again.rows, found.rows)


def test_a_pool_is_chosen_from_and_never_measured_twice(model):
    pool = np.concatenate([X, TOP[None], OTHERS])
    found = suggest(model, pool, batch=8, by=Thompson())
    assert found.places is not None and sorted(found.places) == list(range(25, 33))
    assert suggest(model, pool).places == [25]
    with pytest.raises(ValueError, match="have not been measured yet; got none"):
        suggest(model, X)


def test_columns_are_written_as_users_write_them():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "heat": random.uniform(20, 80, 60),
            "stirs": random.integers(1, 9, 60),
            "solvent": random.choice(["water", "ethanol", "hexane"], 60),
            "day": pd.date_range("2026-01-01", periods=60).astype(str),
        }
    )
    frame.loc[3, "heat"] = np.nan
    gain = 10 * (frame["solvent"] == "ethanol") + frame["stirs"] - (frame["heat"] - 50) ** 2 / 100
    frame["yield"] = gain.fillna(0) + 0.1 * random.normal(size=60)
    frame = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    model = GFSVIRegressor(hidden=(20,), kernel="rbf", random_state=0).fit_table(frame, "yield")
    bounds = {"stirs": (1, 5), "day": "2026-03-01"}
    found = suggest(model, bounds, batch=3)
    table = pd.DataFrame(found.columns)
    np.testing.assert_allclose(model.fitted_.rows(table.astype({"day": str})), found.rows)
    assert table["stirs"].dtype.kind == "i" and table["stirs"].between(1, 5).all()
    assert (table["solvent"] == "ethanol").all() and (table["day"] == "2026-03-01").all()
    dates = suggest(model, {"day": ("2026-02-01", "2026-02-03")}).columns["day"]
    assert dates[0] in pd.date_range("2026-02-01", "2026-02-03")
    np.testing.assert_allclose(np.sort(known_rows(model.fitted_)[:, 2])[[0, -1]], [1, 8])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ({"x11": (0, 1)}, "got `x11`. Did you mean `x1`"),
        ({"x1": (1, 0)}, "smaller number first"),
        ({"x1": (0, 1, -1)}, "positive step"),
        ({"x1": (0, 1, 2, 3)}, "low, high and a step"),
        ({"x1": ("low", "high")}, "expect numbers; got 'low'"),
        ({"x1": 3.0, "x2": 2.0}, None),
    ],
)
def test_bounds_are_checked(model, bounds, message):
    if message is None:
        np.testing.assert_allclose(suggest(model, bounds).rows, [[3, 2]])
        return
    with pytest.raises(ValueError, match=message):
        suggest(model, bounds)


def test_models_that_cannot_be_optimised_are_refused(model):
    several = GFSVIRegressor(hidden=(5,), num_steps=5, random_state=0).fit(X, np.stack([Y, -Y], 1))
    with pytest.raises(ValueError, match="one column of numbers; got one of several columns"):
        suggest(several)
    with pytest.raises(ValueError, match="'max' or 'min'"):
        suggest(model, goal="best")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="`by` expects one of improvement"):
        suggest(model, by="luck")
