"""Counts, amounts and shares are recognised, and predictions of them stay possible."""

import numpy as np
import pytest

from gfsvi import BayesianRegressor, GFSVIRegressor
from gfsvi.auto.coverage import are_inside
from gfsvi.auto.targets import are_counts, bounds_of, limits_in_words, observed_numbers
from gfsvi.likelihoods import NegativeBinomial, Normal, Poisson, WarpedNormal
from gfsvi.predictives.warp import Bounded, Unwarped, Warp

RANDOM = np.random.default_rng(0)
ROWS = 300
EVENTS = RANDOM.poisson(2.0, ROWS).astype(float)
VISITS = RANDOM.poisson(2.0 * RANDOM.gamma(0.7, 1 / 0.7, ROWS)).astype(float)
AMOUNTS = RANDOM.lognormal(size=ROWS)
RAIN = np.maximum(RANDOM.normal(size=ROWS), 0.0)
SHARES = RANDOM.beta(2.0, 3.0, ROWS)
NUMBERS = RANDOM.normal(size=ROWS)
GRADES = RANDOM.choice([3.0, 4, 5, 6, 7, 8], ROWS, p=[0.01, 0.04, 0.42, 0.4, 0.12, 0.01])
AGES = RANDOM.integers(18, 90, ROWS).astype(float)


@pytest.mark.parametrize("counts", [EVENTS, VISITS])
def test_small_counts_are_recognised(counts):
    assert are_counts(counts)


@pytest.mark.parametrize(
    "others", [AMOUNTS, NUMBERS, GRADES, AGES, 100 * VISITS, -VISITS, 1.0 * (NUMBERS > 0)]
)
def test_other_numbers_are_no_counts(others):
    assert not are_counts(others)


def test_counts_that_scatter_more_than_events_are_negative_binomial():
    assert isinstance(observed_numbers(EVENTS).likelihood, Poisson)
    visits = observed_numbers(VISITS)
    assert isinstance(visits.likelihood, NegativeBinomial)
    assert np.array_equal(visits.y, VISITS)  # counts keep their scale
    assert 0.7 < float(visits.likelihood.dispersion[0]) < 3  # 1 / 0.7 was drawn


def test_a_method_that_needs_conjugacy_gets_a_bounded_normal():
    likelihood = observed_numbers(VISITS, conjugate=True).likelihood
    assert isinstance(likelihood, WarpedNormal) and isinstance(likelihood.warp, Bounded)


@pytest.mark.parametrize(
    ("y", "inner", "least", "most"),
    [(AMOUNTS, Warp, 0.0, np.inf), (RAIN, Unwarped, 0.0, np.inf), (SHARES, Warp, 0.0, 1.0)],
)
def test_amounts_and_shares_have_bounds_on_the_standardised_scale(y, inner, least, most):
    observed = observed_numbers(y)
    warp = observed.likelihood.warp
    assert isinstance(warp, Bounded) and isinstance(warp.warp, inner)
    ends = np.array([warp.least, warp.most]).ravel() * observed.target.spread
    assert np.allclose(ends + observed.target.centre, [least, most])


def test_numbers_of_both_signs_or_far_from_zero_have_no_bounds():
    assert bounds_of(NUMBERS) == bounds_of(NUMBERS + 1000) == (-np.inf, np.inf)
    assert isinstance(observed_numbers(NUMBERS).likelihood.warp, Warp)


def test_a_likelihood_that_is_named_is_kept():
    assert observed_numbers(RAIN, "normal").likelihood == Normal(np.array([0.3]))
    assert isinstance(observed_numbers(VISITS, "poisson").likelihood, Poisson)
    assert isinstance(observed_numbers(AMOUNTS, "warped_normal").likelihood.warp, Bounded)


def test_limits_are_said_in_a_sentence():
    for y, said in ((VISITS, "is a count"), (RAIN, "never negative"), (SHARES, "between 0 and 1")):
        observed = observed_numbers(y)
        assert said in limits_in_words(observed.likelihood, observed.target)
    observed = observed_numbers(NUMBERS)
    assert limits_in_words(observed.likelihood, observed.target) is None


@pytest.mark.parametrize(("y", "most"), [(RAIN, np.inf), (SHARES, 1.0)])
def test_predictions_stay_within_the_bounds(y, most):
    x = np.column_stack([y + 0.3 * NUMBERS, NUMBERS])[:100]
    model = BayesianRegressor("exact_gp", kernel="rbf", random_state=0).fit(x, y[:100])
    far = np.array([[-9.0, 0.0], [9.0, 0.0], [0.1, 0.1]])
    predictive = model.predict_distribution(far)
    low, high = predictive.interval(0.95)
    assert np.all(low >= 0) and np.all(high <= most) and np.all(predictive.mean >= 0)
    assert np.all(model.sample_y(far, 20) >= 0)


@pytest.fixture(scope="module")
def visits():
    """Visits whose mean depends on the first of two columns."""
    random = np.random.default_rng(1)
    x = random.normal(size=(200, 2))
    mean = np.exp(0.3 + 0.7 * x[:, 0])
    y = random.poisson(mean * random.gamma(1.0, 1.0, 200)).astype(float)
    model = GFSVIRegressor(kernel="rbf", hidden=(20,), num_steps=100, random_state=0)
    return model.fit(x, y), x, y


def test_counts_are_never_predicted_to_be_negative(visits):
    model, x, _ = visits
    assert isinstance(model.posterior_.likelihood, NegativeBinomial)
    low, high = model.predict_distribution(x).interval(0.95)
    assert np.min(low) >= 0 and np.all(low == np.round(low)) and np.all(high == np.round(high))
    assert np.min(model.predict(x)) >= 0


def test_the_dispersion_of_counts_is_learned(visits):
    model, x, y = visits
    assert 0.5 < float(model.posterior_.likelihood.dispersion[0]) < 2.0  # 1 was drawn
    left_out = model.fitted_.left_out(x, y)
    covered = np.mean(are_inside(left_out, y, np.array([0.5, 0.8])), axis=(1, 2))
    assert np.allclose(covered, [0.5, 0.8], atol=0.1)


def test_intervals_of_counts_are_judged_by_what_they_claim():
    from gfsvi.predictives import MixturePredictive

    y = np.random.default_rng(2).poisson(1.5, 4000)
    right = MixturePredictive.of(Poisson(), np.full((4, 1, 4000), np.log(1.5)))
    levels = np.array([0.5, 0.8, 0.95])
    assert np.allclose(np.mean(are_inside(right, y, levels), axis=(1, 2)), levels, atol=0.025)
