import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from gfsvi.likelihoods import Normal, WarpedNormal
from gfsvi.numerics.constraints import check_positive
from gfsvi.predictives import NormalPredictive, WarpedPredictive
from gfsvi.predictives.warp import Bounded, Unwarped, Warp
from gfsvi.values import Marginals

BENT = Warp(centre=-0.5, stretch=0.2, offset=0.3, unit=0.8, low=(-1.0,), high=(2.0,))
Y = np.array([[-3.0, -1.0, -0.5, 0.1, 1.9, 2.5, 40.0]])
ON_SCALE = NormalPredictive(np.array([0.4, -1.0]), np.array([0.04, 0.3]), np.array([0.09, 0.01]))
ENDLESS = Warp(centre=-0.5, stretch=0.2, offset=0.3, unit=0.8)


def johnson(point, warp=ENDLESS):
    """The same distribution by SciPy."""
    variance = ON_SCALE.epistemic_variance[point] + ON_SCALE.aleatoric_variance[point]
    spread = float(warp.unit) * np.sqrt(variance)
    shift = float(warp.unit) * ON_SCALE.mean[point] + float(warp.offset)
    return stats.johnsonsu(-shift / spread, 1 / spread, float(warp.centre), float(warp.stretch))


def test_a_warp_is_undone_by_its_inverse_inside_and_outside_its_ends():
    np.testing.assert_allclose(BENT.inverse(BENT.forward(Y)), Y, rtol=1e-12)


def test_the_slope_is_the_derivative():
    slope = jax.vmap(jax.grad(lambda y: BENT.forward(y[None, None])[0, 0]))(jnp.asarray(Y[0]))
    np.testing.assert_allclose(BENT.log_slope(Y)[0], np.log(slope), rtol=1e-12)


def test_beyond_its_ends_a_warp_is_a_straight_line():
    y = np.array([[2.0, 3.0, 4.0, 5.0]])
    np.testing.assert_allclose(np.diff(BENT.forward(y)[0], n=2), 0, atol=1e-12)


def test_a_fitted_warp_gives_mean_zero_and_spread_one():
    y = np.random.default_rng(0).lognormal(size=(200, 2))
    z = Warp.fitted(y).forward(y.T)
    np.testing.assert_allclose(np.mean(z, axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.std(z, axis=1), 1, rtol=1e-12)


def test_a_constant_target_can_be_fitted():
    assert np.all(np.isfinite(Warp.fitted(np.ones(5)).forward(np.ones((1, 5)))))


def test_density_quantiles_and_moments_are_johnsons():
    predictive = WarpedPredictive.of(ENDLESS, ON_SCALE)
    y = np.array([0.2, -0.7])
    for point in range(2):
        oracle = johnson(point)
        assert predictive.log_prob(y)[point] == pytest.approx(oracle.logpdf(y[point]), abs=1e-10)
        assert predictive.quantile(0.9)[point] == pytest.approx(oracle.ppf(0.9), rel=1e-8)
        assert predictive.mean[point] == pytest.approx(oracle.mean(), rel=1e-8)
        assert predictive.variance[point] == pytest.approx(oracle.var(), rel=1e-6)


def test_the_parts_of_the_variance_are_those_of_a_nested_simulation():
    predictive = WarpedPredictive.of(BENT, ON_SCALE)
    random = np.random.default_rng(0)
    f = ON_SCALE.mean + random.normal(size=(4000, 1, 2)) * ON_SCALE.epistemic_std
    z = f + random.normal(size=(4000, 500, 2)) * ON_SCALE.aleatoric_std
    y = np.asarray(BENT.inverse(z.reshape(1, -1))).reshape(4000, 500, 2)
    np.testing.assert_allclose(predictive.mean, y.mean((0, 1)), rtol=0.02)
    np.testing.assert_allclose(predictive.epistemic_variance, y.mean(1).var(0), rtol=0.08)
    np.testing.assert_allclose(predictive.aleatoric_variance, y.var(1).mean(0), rtol=0.08)


@pytest.mark.parametrize("scale", [2.5, -2.5])
def test_a_change_of_units_moves_everything_along(scale, key):
    plain = WarpedPredictive.of(BENT, ON_SCALE)
    moved, y = plain.rescaled(scale, 1.0), np.array([0.2, -0.7])
    np.testing.assert_allclose(moved.mean, scale * plain.mean + 1)
    np.testing.assert_allclose(moved.std, abs(scale) * plain.std)
    np.testing.assert_allclose(
        moved.log_prob(scale * y + 1), plain.log_prob(y) - np.log(abs(scale))
    )
    np.testing.assert_allclose(moved.sample(3, key=key), scale * plain.sample(3, key=key) + 1)
    low, high = moved.interval(0.9)
    assert np.all(low < high)


def test_a_warp_that_does_not_bend_is_the_normal_likelihood(key):
    flat = Warp(stretch=1e5, unit=1e-5)
    values = Marginals(jnp.array([[0.3, -1.2]]), jnp.array([[[0.2]], [[0.01]]]))
    y = np.array([0.5, -1.0])
    warped, plain = WarpedNormal(0.3, flat), Normal(0.3)
    for one, other in (
        (warped.log_prob(y, values.mean), plain.log_prob(y, values.mean)),
        (warped.expected_log_prob(y, values, key=key), plain.expected_log_prob(y, values, key=key)),
        (warped.predict(values, key=key).std, plain.predict(values, key=key).std),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_two_outputs_have_a_scale_each(key):
    y = np.random.default_rng(1).lognormal(size=(50, 2)) * [1.0, 10.0]
    likelihood = WarpedNormal(np.array([0.1, 0.2]), Warp.fitted(y))
    predictive = likelihood.predict(
        Marginals(jnp.zeros((2, 50)), jnp.broadcast_to(0.1 * jnp.eye(2), (50, 2, 2))), key=key
    )
    assert predictive.mean.shape == (50, 2)
    assert predictive.quantile(np.array([0.1, 0.9])).shape == (2, 50, 2)
    targets = likelihood.gaussian_targets(y)
    slopes = np.sum(np.asarray(likelihood.warp.log_slope(y.T)))
    assert targets.values.shape == (2, 50) and np.sum(targets.log_factor) == pytest.approx(slopes)


def test_a_stretch_that_is_not_positive_is_refused():
    with pytest.raises(ValueError, match="Warp expects a positive, finite stretch; got -1"):
        check_positive(Warp(), stretch=np.array(-1.0))
    with pytest.raises(ValueError, match="Warp expects a positive, finite unit"):
        Warp(unit=0.0)


def test_nothing_that_is_predicted_leaves_the_bounds(key):
    predictive = WarpedPredictive.of(Bounded(Unwarped(), (-0.5,), (0.6,)), ON_SCALE)
    quantiles = predictive.quantile(np.linspace(0.001, 0.999, 9))
    drawn = predictive.sample(500, key=key)
    for found in (quantiles, drawn, predictive.mean):
        assert np.min(found) >= -0.5 and np.max(found) <= 0.6
    assert np.any(drawn == -0.5) and np.any((drawn > -0.5) & (drawn < 0.6))


def test_inside_its_bounds_a_bounded_warp_is_the_warp_itself():
    bounded = Bounded(BENT, (-5.0,), (50.0,))
    z = bounded.forward(Y)
    assert np.array_equal(z, BENT.forward(Y))
    assert np.array_equal(bounded.inverse(z), BENT.inverse(z))
    assert np.array_equal(bounded.log_slope(Y), BENT.log_slope(Y))


def test_the_mean_of_a_bounded_observation_is_that_of_tobin():
    predictive = WarpedPredictive.of(Bounded(Unwarped(), (0.0,)), ON_SCALE)
    std = np.sqrt(ON_SCALE.variance)
    ratio = ON_SCALE.mean / std
    # E[max(y, 0)] of a normal y
    expected = ON_SCALE.mean * stats.norm.cdf(ratio) + std * stats.norm.pdf(ratio)
    np.testing.assert_allclose(predictive.mean, expected, atol=0.01)


def test_the_learned_part_of_a_warp_is_inside_its_bounds():
    bounded = Bounded(BENT, (0.0,))
    assert bounded.learned is BENT and BENT.learned is BENT and Unwarped().learned is None
    assert bounded.with_learned(ENDLESS) == Bounded(ENDLESS, (0.0,))
