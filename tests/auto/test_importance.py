"""Shares of the variance of predictions, against functions whose shares are known."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from gfsvi import BayesianRegressor, Model
from gfsvi.auto.importance import importance
from gfsvi.auto.looked_at import MAX_COLUMNS, quickest
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Normal

ROWS = 2000
SEPARATE = {"a": (0,), "b": (1,), "c": (2,)}


def ishigami(x: np.ndarray) -> np.ndarray:
    wave = np.sin(x[:, 0])
    return wave + 7 * np.sin(x[:, 1]) ** 2 + 0.1 * x[:, 2] ** 4 * wave


def rows(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (ROWS, 3))


def test_shares_of_the_ishigami_function_are_the_known_ones() -> None:
    found = [importance(ishigami, rows(seed), SEPARATE, seed=100 + seed) for seed in range(10)]
    # Closed form for a = 7, b = 0.1 on [-pi, pi]^3.
    first_order, total = (0.3139, 0.4424, 0.0), (0.5576, 0.4424, 0.2437)
    assert np.allclose(np.mean([one.first_order for one in found], axis=0), first_order, atol=0.02)
    assert np.allclose(np.mean([one.total for one in found], axis=0), total, atol=0.02)
    assert all(np.all(np.abs(one.total - total) < 4 * one.total_std) for one in found)


def test_first_order_and_total_agree_for_a_sum_of_independent_columns() -> None:
    weights = np.array([1.0, 2.0, 0.0])
    known = weights**2 / np.sum(weights**2)
    found = importance(lambda x: x @ weights, rows(), SEPARATE)
    assert np.allclose(found.first_order, known, atol=0.03)
    assert np.allclose(found.total, known, atol=0.03)
    assert found.columns[found.order[0]] == "b"


def test_standard_errors_are_the_spread_over_other_rows() -> None:
    found = [importance(ishigami, rows(seed)[:500], SEPARATE, seed=seed) for seed in range(30)]
    for share, error in (("first_order", "first_order_std"), ("total", "total_std")):
        spread = np.std([getattr(one, share) for one in found], axis=0)[:2]
        claimed = np.mean([getattr(one, error) for one in found], axis=0)[:2]
        assert np.all((0.6 * spread < claimed) & (claimed < 1.7 * spread))


def test_all_levels_of_a_category_are_one_column() -> None:
    levels = np.random.default_rng(0).integers(0, 4, ROWS)
    x = np.column_stack([np.eye(4)[levels], rows()[:, 0]])
    effect = np.array([-2.0, 0.0, 0.0, 2.0, 1.0])
    found = importance(lambda x: x @ effect, x, {"level": (0, 1, 2, 3), "number": (4,)})
    known = 2 / (2 + np.pi**2 / 3)  # variances of the level's effect and of the number
    assert np.isclose(found.first_order[0], known, atol=0.03)
    assert np.isclose(found.total[0], known, atol=0.03)


def test_columns_that_copy_each_other_share_what_they_explain() -> None:
    x = rows()
    x[:, 1] = x[:, 0] + 0.01 * x[:, 1]
    found = importance(lambda x: x[:, 0] + x[:, 1], x, SEPARATE)
    assert np.allclose(found.first_order[:2], 1, atol=0.02)
    assert np.allclose(found.total[:2], 0.25, atol=0.02)


def test_a_row_of_weight_three_counts_like_three_rows() -> None:
    x, often = rows()[:200], np.where(np.arange(200) % 2, 3, 1)
    repeated = importance(ishigami, np.repeat(x, often, axis=0), SEPARATE)
    weighted = importance(ishigami, x, SEPARATE, weights=often.astype(float))
    assert np.allclose(weighted.total, repeated.total, atol=0.12)
    alone = importance(ishigami, x, SEPARATE, weights=(np.arange(200) < 100).astype(float))
    first = importance(ishigami, x[:100], SEPARATE)
    assert np.allclose(alone.total, first.total, atol=0.12)


def test_targets_have_shares_of_their_own_and_probabilities_one() -> None:
    def both(x: np.ndarray) -> np.ndarray:
        return np.column_stack([x[:, 0], x[:, 1]])

    by_target = importance(both, rows(), SEPARATE)
    assert np.allclose(by_target.total, [[1, 0], [0, 1], [0, 0]], atol=0.05)
    together = importance(lambda x: both(x)[:, None, :], rows(), SEPARATE)
    assert np.allclose(together.total, [0.5, 0.5, 0], atol=0.05)


def test_a_constant_function_depends_on_nothing() -> None:
    found = importance(lambda x: np.zeros(len(x)), rows(), SEPARATE)
    assert not found.total.any() and not found.first_order_std.any()


def test_importance_prints_as_a_table() -> None:
    lines = repr(importance(ishigami, rows(), SEPARATE)).splitlines()
    assert lines[0].split() == ["first", "order", "total"]
    assert lines[1].startswith("a") and "±" in lines[1] and len(lines) == 4


def test_many_columns_still_have_enough_rows() -> None:
    x = np.random.default_rng(0).normal(size=(500, 300))
    found = importance(lambda x: x[:, 0] + x[:, 7], x, {f"x{i}": (i,) for i in range(300)})
    assert set(found.order[:2]) == {0, 7}
    assert np.allclose(found.total[[0, 7]], 0.5, atol=0.2)


@pytest.fixture(scope="module")
def diabetes() -> tuple[BayesianRegressor, pd.DataFrame]:
    frame = load_diabetes(as_frame=True, scaled=False)["frame"]
    frame["sex"] = np.where(frame["sex"] == 1, "one", "other")
    model = BayesianRegressor("exact_gp", kernel="rbf", likelihood="normal", random_state=0)
    return model.fit_table(frame, "target"), frame


def test_diabetes_depends_on_bmi_and_s5_more_than_on_age(diabetes) -> None:
    model, frame = diabetes
    found = model.importance(frame)
    total = dict(zip(found.columns, found.total, strict=True))
    assert {found.columns[i] for i in found.order[:2]} == {"bmi", "s5"}
    assert min(total["bmi"], total["s5"]) > 2 * total["age"]
    assert len(found.columns) == 10  # `sex` has two features and one share


def test_images_are_refused(diabetes) -> None:
    with pytest.raises(ValueError, match=r"importance expects a table or rows of numbers"):
        diabetes[0].fitted_.importance(np.zeros((3, 4, 4, 1)))


def test_of_very_many_columns_the_quickest_are_looked_at():
    groups = {f"c{i}": (i,) for i in range(3 * MAX_COLUMNS)}
    lengths = np.full(len(groups), 9.0)
    lengths[[5, 400, 599]] = 0.5, 0.1, 0.2
    prior = Model(GaussianProcess(RBF(lengths)), Normal())
    chosen = quickest(groups, prior)
    assert len(chosen) == MAX_COLUMNS and {"c5", "c400", "c599", "c0"} <= set(chosen)
    assert list(chosen) == [name for name in groups if name in chosen]
    few = {"a": (0,), "b": (1,)}
    assert quickest(few, prior) == few
    assert len(quickest(groups, Model(GaussianProcess(RBF(1.0)), Normal()))) == MAX_COLUMNS
