import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi.points import (
    BatchRows,
    Between,
    FixedPoints,
    LowDiscrepancy,
    Mixture,
    RandomPixel,
    Rows,
    UniformBox,
)

X = np.random.default_rng(0).normal(size=(30, 3))
ALL = [
    UniformBox(20),
    LowDiscrepancy(20),
    BatchRows(20),
    Between(20),
    RandomPixel(20),
    Rows(X[:7], 20),
    FixedPoints(),
    Mixture((BatchRows(5), UniformBox(5), LowDiscrepancy(5), Rows(X, 5))),
]


@pytest.mark.parametrize("points", ALL, ids=lambda points: type(points).__name__)
def test_every_distribution_draws_what_it_promises(points, key):
    bound = points.bind(X)
    drawn = bound.draw(jnp.asarray(X), key=key)
    assert drawn.shape == (bound.num_points, 3)
    assert drawn.dtype == jnp.float64
    assert bool(jnp.all(jnp.isfinite(drawn)))
    again = jax.jit(lambda batch: bound.draw(batch, key=key))(jnp.asarray(X))
    np.testing.assert_allclose(again, drawn, rtol=1e-12)


@pytest.mark.parametrize("kind", [UniformBox, LowDiscrepancy])
def test_a_box_is_the_range_of_the_inputs_widened(kind, key):
    drawn = np.asarray(kind(5000, widen=0.5).bind(X).draw(jnp.asarray(X), key=key))
    margin = 0.5 * np.ptp(X, axis=0)
    low, high = X.min(0) - margin, X.max(0) + margin
    assert np.all(drawn >= low) and np.all(drawn <= high)
    np.testing.assert_allclose(drawn.min(0), low, atol=0.02 * np.ptp(X))
    np.testing.assert_allclose(drawn.max(0), high, atol=0.02 * np.ptp(X))


def test_low_discrepancy_points_cover_a_line_more_evenly_than_uniform_ones(key):
    def largest_gap(points):
        drawn = np.sort(
            np.asarray(points.bind(X[:, :1]).draw(jnp.asarray(X[:, :1]), key=key))[:, 0]
        )
        return np.max(np.diff(drawn))

    assert largest_gap(LowDiscrepancy(100, 0.0, 1.0)) < 0.5 * largest_gap(UniformBox(100, 0.0, 1.0))


def test_batch_rows_repeat_no_row_before_all_are_used(key):
    drawn = np.asarray(BatchRows(30).draw(jnp.asarray(X), key=key))
    assert len(np.unique(drawn, axis=0)) == 30
    assert len(BatchRows(70).draw(jnp.asarray(X), key=key)) == 70


def test_random_pixels_keep_their_position(key):
    batch = jnp.asarray(np.arange(12.0).reshape(4, 3))
    drawn = np.asarray(RandomPixel(50).draw(batch, key=key))
    for column in range(3):
        assert set(drawn[:, column]) <= set(np.asarray(batch)[:, column])
    assert len(np.unique(drawn, axis=0)) > 4


def test_points_between_rows_stay_inside_their_hull(key):
    drawn = np.asarray(Between(500).draw(jnp.asarray(X), key=key))
    assert np.all(drawn >= X.min(0)) and np.all(drawn <= X.max(0))


def test_an_empty_box_is_refused():
    with pytest.raises(ValueError, match="lower <= upper"):
        UniformBox(5, 1.0, -1.0).bind(X)
