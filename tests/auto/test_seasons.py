import numpy as np
import pandas as pd
import pytest

from gfsvi.auto import Learner
from gfsvi.auto.parameters import Parameters
from gfsvi.auto.seasons import part_of_time, shown_periods, time_kernels
from gfsvi.auto.units import Feature
from gfsvi.kernels import RBF, LocallyPeriodic
from gfsvi.tables import Preparation

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("days", "periods"),
    [
        (np.arange(700.0), ("1 week", "1 year")),  # two years of days
        (np.arange(60.0), ("1 week",)),
        (np.arange(0, 3000, 30.4), ("1 year",)),  # months
        (np.arange(0, 3000, 365.25), ()),
        (np.arange(0, 40, 1 / 24), ("1 day", "1 week")),  # hours
        (np.arange(0, 1, 1 / 24), ()),
    ],
)
def test_seasons_are_those_that_dates_cover_and_can_show(days, periods):
    assert shown_periods(days) == periods


def test_kernels_of_time_see_the_dates_alone_and_know_their_periods():
    features = [Feature("size", "size", 3.0), Feature("when (days)", "when", 100.0, is_date=True)]
    x = np.stack([RANDOM.normal(size=700), np.arange(700.0)], axis=1)
    found = time_kernels("auto", features, x)
    assert [len(kernel.kernel.terms) for kernel in found] == [4, 5, 5, 6]
    assert {kernel.columns for kernel in found} == {(1,)}
    week, year = (term.period for term in found[-1].kernel.terms[4:])
    assert isinstance(week, float) and (week, year) == pytest.approx((0.07, 3.652425))
    assert time_kernels("auto", features[:1], x[:, :1]) == ()
    assert time_kernels("auto", features, x[:10]) == ()
    assert time_kernels("rbf", features, x) == () == time_kernels(RBF(), features, x)


def daily(size=300):
    """A trend, a week and a column that matters."""
    days = np.arange(size)
    table = pd.DataFrame({"day": pd.Timestamp("2021-03-01") + pd.to_timedelta(days, "D")})
    table["price"] = RANDOM.normal(size=size)
    week = np.where(days % 7 < 5, 0.0, 2.0)
    table["sold"] = 0.02 * days + week + table.price + 0.1 * RANDOM.normal(size=size)
    return table


def learned(table, **parameters):
    preparation = Preparation.learn(table, "sold")
    parameters = Parameters(random_state=0, num_steps=20, hidden=(20,), **parameters)
    return Learner("regression", parameters).learn_table(preparation.prepare(table), preparation)


def test_a_week_and_a_trend_go_on_after_the_last_date():
    table = daily()
    known, later = table[:240], table[240:]
    fitted = learned(known, held_out="none")
    part = part_of_time(fitted.prior.function.kernel)
    assert part is not None and part.columns == (0,)
    assert any(isinstance(term, LocallyPeriodic) for term in part.kernel.terms)
    assert "period='1 week'" in fitted.kernel.code() and ".on('day')" in fitted.kernel.code()
    predicted = fitted.predict(later)
    assert np.mean(np.abs(predicted.mean - later.sold)) < 0.25
    low, high = predicted.interval(0.95)
    assert np.mean((low < later.sold) & (later.sold < high)) > 0.85


def test_dates_that_explain_nothing_leave_the_prior_as_it_is():
    table = daily(150)
    table["sold"] = table.price + 0.5 * RANDOM.normal(size=150)
    shuffled = table.sample(frac=1, random_state=0)
    assert part_of_time(learned(shuffled).prior.function.kernel) is None


def test_rows_in_time_order_always_have_a_trend():
    table = daily(150)
    table["sold"] = table.price + 0.5 * RANDOM.normal(size=150)
    part = part_of_time(learned(table).prior.function.kernel)
    assert part is not None and len(part.kernel.terms) == 4  # and no week, which there is not


def test_a_kernel_of_the_user_stays_as_it_is():
    fitted = learned(daily(60), kernel="rbf")
    assert part_of_time(fitted.prior.function.kernel) is None
