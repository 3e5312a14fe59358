import numpy as np
import pandas as pd
import pytest

from gfsvi.auto import Fitted, Learner
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.seasons import part_of_time
from gfsvi.kernels import Sum
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.report.case import build_case
from gfsvi.report.page import write_report
from gfsvi.report.trend import Decomposition, Part, trend_and_seasons
from gfsvi.tables import Preparation

SIZE = 120
DAYS = 30.4375 * np.arange(SIZE)
SEASON = 3 * np.sin(2 * np.pi * DAYS / 365.2425)


def table() -> pd.DataFrame:
    """Ten years of months with a trend, a season and nothing else but noise."""
    random = np.random.default_rng(0)
    dates = pd.Timestamp("2011-01-01") + pd.to_timedelta(np.round(DAYS), "D")
    level = 50 + 0.004 * DAYS + SEASON + 0.2 * random.normal(size=SIZE)
    return pd.DataFrame({"month": dates.astype(str), "level": level})


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    preparation = Preparation.learn(table(), "level")
    parameters = Parameters(random_state=0, held_out="none", likelihood="normal", hidden=(20,))
    return Learner("regression", parameters).learn_table(preparation.prepare(table()), preparation)


def case_of(fitted: Fitted):
    return build_case(fitted, fitted.preparation.prepare(table()), ("level",))


def test_parts_add_up_to_the_whole_at_the_rows(fitted):
    case, process = case_of(fitted), fitted.posterior.function.in_numpy
    rows, parts = fitted.standardized(case.x), Decomposition(process)
    terms = part_of_time(fitted.prior.function.kernel).kernel.terms
    each = [parts.of(Part(term.on(0), rows, np.eye(SIZE))).mean for term in terms]
    whole = parts.of(Part(Sum(terms).on(0), rows, np.eye(SIZE)))
    mean, variance = process.marginals(rows)
    np.testing.assert_allclose(np.sum(each, axis=0), mean, atol=1e-5)
    np.testing.assert_allclose(whole.mean, mean, atol=1e-5)
    np.testing.assert_allclose(whole.std**2, variance, rtol=1e-3, atol=1e-7)


def test_a_part_is_what_the_exact_process_says_of_it(fitted):
    case = case_of(fitted)
    rows, later = (fitted.standardized(x) for x in (case.x, case.x[-12:] + 365.2425))
    kernel = fitted.prior.function.kernel
    season = part_of_time(kernel).kernel.terms[-1].on(0)
    plain, own = kernel_in_numpy(kernel), kernel_in_numpy(season)
    y = (table().level.to_numpy() - fitted.target.centre) / fitted.target.spread
    noise = np.eye(SIZE) * float(np.squeeze(fitted.posterior.likelihood.noise)) ** 2
    gain = np.linalg.solve(plain.gram(rows) + noise, own.cross(rows, later)).T
    cov = own.gram(later) - gain @ own.cross(rows, later)
    weights = np.eye(12) - 1 / 12
    found = Decomposition(fitted.posterior.function.in_numpy).of(Part(season, later, weights))
    np.testing.assert_allclose(found.mean[0], weights @ gain @ y, atol=2e-3)
    expected = np.sqrt(np.diagonal(weights @ cov @ weights.T))
    np.testing.assert_allclose(found.std[0], expected, rtol=0.02, atol=1e-4)


def test_trend_and_season_are_on_the_users_scale(fitted):
    ((trend, season),) = trend_and_seasons(case_of(fitted))
    assert (trend.column, season.column) == ("Trend", "Season of 1 year")
    (line,) = trend.lines
    known = trend.grid <= DAYS[-1]
    np.testing.assert_allclose(line.mean[known], 50 + 0.004 * trend.grid[known], atol=0.5)
    assert trend.grid[-1] > DAYS[-1] + 365  # the trend goes on
    width = line.high - line.low
    assert width[-1] > 1.2 * width[60]
    (wave,) = season.lines
    expected = 3 * np.sin(2 * np.pi * season.grid / 365.2425)
    np.testing.assert_allclose(wave.mean, expected, atol=0.3)
    assert np.all(wave.high - wave.low < 1.5)


def test_the_page_shows_trend_and_season_apart(fitted, tmp_path):
    write_report(fitted, table(), "level", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Trend and seasons" in page and "Season of 1 year" in page
    assert "with a period of 1 year in <code>month</code>" in page


def test_a_table_without_dates_has_no_trend(tmp_path):
    frame = pd.DataFrame({"x": np.linspace(0, 1, 30), "y": np.linspace(0, 1, 30) ** 2})
    preparation = Preparation.learn(frame, "y")
    parameters = Parameters(random_state=0, num_steps=5, hidden=(5,))
    plain = Learner("regression", parameters).learn_table(preparation.prepare(frame), preparation)
    assert trend_and_seasons(build_case(plain, preparation.prepare(frame), ("y",))) == ()
