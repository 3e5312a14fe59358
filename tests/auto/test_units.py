"""Kernels in the units of a table's columns."""

import numpy as np
import pandas as pd
import pytest

from gfsvi.auto.kernel_text import is_expression, kernel_of
from gfsvi.auto.parameters import Parameters, saved_parameters
from gfsvi.auto.priors import chosen_prior, kernel_in_model_units, kernels_named
from gfsvi.auto.recipe import DEFAULT
from gfsvi.auto.units import Feature, features_of, has_units, in_model_units, in_user_units
from gfsvi.data import Data
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Linear, LocallyPeriodic, Matern52, Periodic, White
from gfsvi.likelihoods import Normal
from gfsvi.model import Model
from gfsvi.numerics.constraints import from_free, is_learnable, to_free
from gfsvi.numerics.quantities import parsed, time_text
from gfsvi.tables import Preparation

DATE = Feature("date (days since 2015-01-01)", "date", 500.0, is_date=True)
SIZE = Feature("size", "size", 25.0)
TOWNS = (Feature("town = Bonn", "town", 0.5), Feature("town = Celle", "town", 0.4))
FEATURES = (DATE, SIZE, *TOWNS)
YEAR = 365.2425


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1 year", YEAR),
        ("3 weeks", 21),
        ("~0.5 day", 0.5),
        ("90 min", 1 / 16),
        ("12 h", 0.5),
        ("1e2 s", 100 / 86400),
        ("2months", YEAR / 6),
    ],
)
def test_times_are_read(text, days):
    assert parsed(text).days == pytest.approx(days, rel=1e-12)
    assert parsed(text).is_exact == (not text.startswith("~"))


@pytest.mark.parametrize(
    "text", ["", "week", "-1 day", "0", "1 2", "inf", "1.2.3", "3 wekks", "1;"]
)
def test_what_is_no_quantity_raises_at_construction(text):
    for build in (lambda: RBF(lengthscale=text), lambda: Periodic(period=text)):
        with pytest.raises(ValueError, match="expected a .*; got"):
            build()


@pytest.mark.parametrize("days", [1e-7, 0.04, 1.0, 6.9, 7.0, 30.0, 400.0, 36524.25])
def test_times_come_back_from_their_text(days):
    assert parsed(time_text(days)).days == pytest.approx(days, rel=6e-4)


def test_only_distances_between_inputs_may_be_texts():
    for build in (
        lambda: RBF(variance="2"),
        lambda: Periodic(lengthscale="1 year"),
        lambda: Linear("1"),
    ):
        with pytest.raises(TypeError, match="expected a number; got the text"):
            build()


def test_distances_are_divided_by_the_spread_of_their_column():
    kernel = LocallyPeriodic(lengthscale="5 years", period="1 year").on("date")
    kernel += RBF(lengthscale="50", variance=2.0).on("size")
    one, other = in_model_units(kernel, FEATURES).terms
    assert one.dimensions == (0,) and other.dimensions == (1,)
    assert one.kernel.lengthscale == pytest.approx(5 * YEAR / 500)
    assert one.kernel.period == pytest.approx(YEAR / 500)
    assert other.kernel.lengthscale == 2.0 and float(other.kernel.variance) == 2.0


def test_a_kernel_on_the_standardised_scale_is_the_kernel_on_the_users():
    days, rng = np.sort(np.random.default_rng(0).uniform(0, 900, 9)), np.random.default_rng(1)
    size = rng.uniform(0, 100, 9)
    stated = Periodic(period="1 year").on("date") * Matern52(lengthscale="40").on("size")
    model = in_model_units(stated, FEATURES)
    rows = np.stack([days / DATE.spread, size / SIZE.spread, *np.zeros((2, 9))], axis=1)
    expected = Periodic(period=YEAR).gram(days[:, None]) * Matern52(40.0).gram(size[:, None])
    np.testing.assert_allclose(model.gram(rows), expected, rtol=1e-9, atol=1e-12)


def test_what_is_stated_is_known_and_what_is_estimated_is_learned():
    kernel = Periodic(period="1 year").on("date") + RBF(lengthscale="~50").on("size") + RBF()
    one, other, plain = in_model_units(kernel, FEATURES).terms
    assert not is_learnable(one.kernel.period) and is_learnable(one.kernel.variance)
    assert is_learnable(other.kernel.lengthscale) and is_learnable(plain.lengthscale)
    freed = to_free(one)
    assert freed.kernel.period == one.kernel.period
    assert from_free(freed).kernel.period == one.kernel.period


@pytest.mark.parametrize("stated", ["40", "~40"])
def test_the_evidence_changes_only_what_is_not_stated(stated, key):
    x = np.linspace(-2, 2, 30)[:, None]
    kernel = in_model_units(RBF(lengthscale=stated), (SIZE,))
    blank = Model(GaussianProcess(kernel), Normal(0.3))
    prior = chosen_prior(blank, Data(x, np.sin(3 * x[:, 0])), DEFAULT.choice, key=key)
    chosen = prior.function.kernel
    assert float(chosen.variance) != 1.0
    assert (float(chosen.lengthscale) == 40 / SIZE.spread) is (stated == "40")
    assert in_user_units(chosen, (SIZE,)).lengthscale.startswith("~") is (stated == "~40")


def test_a_learned_kernel_is_shown_in_the_users_units():
    model = Periodic(period=0.5).on(0) + RBF([1.0, 2.0]).on(1, 2) + 2.0 * Matern52(3.0).on(1)
    shown = in_user_units(model, FEATURES)
    assert shown.code() == (
        "Periodic(lengthscale=1.0, variance=1.0, period='~8.214 months').on('date')"
        " + RBF(lengthscale=[1.0, 2.0], variance=1.0).on('size', 'town')"
        " + Matern52(lengthscale='~75', variance=2.0).on('size')"
    )


def test_a_stated_kernel_is_shown_as_it_was_stated():
    stated = (0.5 + Periodic(period="1 year") * RBF(lengthscale="3 weeks")).on("date") * Linear()
    assert in_user_units(in_model_units(stated, FEATURES), FEATURES).code() == stated.code()


def test_a_column_stands_for_all_features_made_from_it_but_marks_of_missing_cells():
    frame = pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=12),
            "size": [1.0, None, 3.0, 4.0, 2.0, 5.0, 1.5, 2.5, 7.0, 8.0, 9.5, 0.5],
            "town": ["Bonn", "Celle"] * 6,
            "price": np.arange(12.0),
        }
    )
    preparation = Preparation.learn(frame, "price")
    features = features_of(preparation.feature_names, np.arange(1.0, 6.0), preparation)
    assert [f.column for f in features] == ["date", "size", "size", "town", "town"]
    assert [f.is_date for f in features] == [True, False, False, False, False]
    assert in_model_units(RBF().on("town"), features).dimensions == (3, 4)
    assert in_model_units(RBF().on("size"), features).dimensions == (1,)
    assert in_model_units(RBF().on("size is missing"), features).dimensions == (2,)


MISTAKES = {
    "an unknown column": (
        RBF().on("sise"),
        "that the model uses; got `sise`. Did you mean `size`?",
    ),
    "a time for numbers": (
        RBF("3 weeks").on("size"),
        "a number alone, such as \"50\" .*'size'; got",
    ),
    "a number for dates": (RBF("3").on("date"), "a time such as \"3 weeks\" .*'date'; got '3'"),
    "several columns": (RBF("3"), r'for 4: date, size, town, town. Restrict .*on\("date"\)'),
}


@pytest.mark.parametrize(("kernel", "message"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_raise_in_words(kernel, message):
    with pytest.raises(ValueError, match=message):
        in_model_units(kernel, FEATURES)


def test_units_and_names_need_a_table():
    x = np.zeros((3, 1))
    with pytest.raises(
        ValueError, match="RBF has the lengthscale '3 weeks', in the units of a col"
    ):
        RBF("3 weeks").gram(x)
    with pytest.raises(
        ValueError, match=r"restricted to the columns \('date',\), which only a fit"
    ):
        RBF().on("date").gram(x)


def test_only_stated_kernels_are_saved_as_text():
    stated = Periodic(period="1 year").on("date")
    assert has_units(stated) and not has_units(Periodic(period=1.0).on(0)) and not has_units("rbf")
    assert saved_parameters(Parameters(kernel=stated))["kernel"] == stated.code()
    plain = RBF()
    assert saved_parameters(Parameters(kernel=plain))["kernel"] is plain


TEXTS = [
    "Periodic(lengthscale=1.0, variance=1.0, period='1 year').on('date') + White(variance=0.5)",
    "(RBF(lengthscale=[0.3, 2.0], variance=2.0) + Linear(variance=1.0)) * White(variance=1.0)",
    "((RBF(lengthscale=1.0, variance=1.0) + 1.0) * Linear(variance=2.0)).on(0, 1)",
    "Scaled(RBF(lengthscale=1.0, variance=1.0), 2.0) + 0.5",
]


@pytest.mark.parametrize("text", TEXTS)
def test_kernels_are_read_from_their_text(text):
    assert kernel_of(text).code() == text


def test_names_in_texts_may_be_written_as_on_the_command_line():
    kernel = kernel_of("2 * rational_quadratic(lengthscale=3) + rbf * white")
    assert kernel.code().startswith("RationalQuadratic(lengthscale=3.0, variance=2.0")
    assert not is_expression("rational_quadratic") and is_expression("rbf + white")
    assert isinstance(kernels_named("rbf + white", (2,))[0].terms[1], White)
    assert kernel_in_model_units("rbf", FEATURES) == "rbf"


HOSTILE = [
    "__import__('os').system('true')",
    "RBF.__class__",
    "RBF().__class__()",
    "RBF().on.__self__",
    "[RBF() for x in y]",
    "lambda: RBF()",
    "RBF(**{})",
    "RBF() if 1 else RBF()",
    "RBF()()",
    "open('x') + RBF()",
    "(" * 1500 + ")" * 1500,
    "RBF() ** 9",
    "1 + 2",
    "RBF(",
    "RBF(9**9**9)",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:20])
def test_texts_are_read_and_never_run(text):
    with pytest.raises(ValueError, match="expected"):
        kernel_of(text)
