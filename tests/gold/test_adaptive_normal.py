"""Heavy tails and varying noise against scipy.stats, numerical integration and refits."""

import dataclasses

import jax
import numpy as np
import pytest
import scipy.integrate
import scipy.stats

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess
from gfsvi.inference.adaptive_fit import _Judged, adaptive_posterior
from gfsvi.inference.conjugate import Interpolation, solved, sums_over_rows, tangents_of
from gfsvi.inference.evidence import targets_of
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.inference.left_out import sums_of_unit_noise
from gfsvi.inference.noise_shape import LeftOut, _loss, chosen_width, fitted_shape, unseen_noise
from gfsvi.inference.tails import Tails, most_probable_tails
from gfsvi.kernels import RBF
from gfsvi.likelihoods import AdaptiveNormal, NoiseFunction, noise_function
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double
from gfsvi.predictives import StudentPredictive
from gfsvi.predictives.warp import Warp
from gfsvi.values import Independent

RANDOM = np.random.default_rng(0)
KEY = jax.random.key(0)
Y, MEAN = np.array([-0.7, 0.2, 1.9]), np.array([[0.1, -0.4, 0.8]])
VARIANCE = np.array([[0.05, 0.2, 0.01]])
LIKELIHOOD = AdaptiveNormal(
    np.array([0.3]), degrees_of_freedom=np.array([4.0]), spread=np.array([0.8])
)


def varying(points: int = 6, outputs: int = 1) -> NoiseFunction:
    random = np.random.default_rng(1)
    return NoiseFunction(
        random.normal(size=(points, 2)), np.array([0.8, 1.5]), random.normal(size=(outputs, points))
    )


def test_the_noise_of_many_rows_is_computed_in_blocks(monkeypatch):
    noise, x = varying(), np.random.default_rng(2).normal(size=(23, 2))
    whole = noise(x)
    monkeypatch.setattr(noise_function, "BLOCK", 5)
    np.testing.assert_allclose(noise(x), whole, rtol=1e-14)
    assert noise(x[:0]).shape == (1, 0)


@double
def test_observations_around_a_known_function_follow_students_t():
    expected = scipy.stats.t.logpdf(Y, 4, MEAN[0], 0.8 * 0.3)
    np.testing.assert_allclose(LIKELIHOOD.log_prob(Y, MEAN), expected, rtol=1e-12)


def test_predictions_follow_students_t_of_function_and_noise_together():
    predictive = LIKELIHOOD.predict(Independent(MEAN, VARIANCE), key=KEY)
    theirs = scipy.stats.t(4, MEAN[0], 0.8 * np.sqrt(VARIANCE[0] + 0.3**2))
    np.testing.assert_allclose(predictive.log_prob(Y), theirs.logpdf(Y), rtol=1e-12)
    np.testing.assert_allclose(predictive.std, theirs.std(), rtol=1e-6)
    for level in (0.01, 0.3, 0.975):
        np.testing.assert_allclose(predictive.quantile(level), theirs.ppf(level), rtol=1e-9)
    draws = np.asarray(predictive.sample(4000, key=KEY))[:, 0]
    first = scipy.stats.t(4, MEAN[0, 0], 0.8 * np.sqrt(VARIANCE[0, 0] + 0.3**2))
    assert scipy.stats.kstest(draws, first.cdf).pvalue > 1e-3
    np.testing.assert_allclose(predictive.epistemic_std**2, 2 * 0.64 * VARIANCE[0], rtol=1e-6)


def test_the_expected_log_likelihood_is_the_mean_over_the_function():
    predictive = StudentPredictive(*(np.array([v]) for v in (0.4, 0.3, 0.5, 5.0)))
    epistemic, aleatoric = 0.3 * 3 / 5, 0.5 * 3 / 5

    def given_function(f: float) -> float:
        log_density = scipy.stats.t.logpdf(1.1, 5, f, aleatoric**0.5)
        return log_density * scipy.stats.norm.pdf(f, 0.4, epistemic**0.5)

    expected = scipy.integrate.quad(given_function, -10, 10)[0]
    np.testing.assert_allclose(predictive.expected_log_prob([1.1]), expected, rtol=1e-7)


@double
def test_the_likelihood_and_its_predictive_expect_the_same():
    values = Independent(MEAN, VARIANCE)
    warp = Warp.fitted(RANDOM.gamma(2.0, size=(50, 1)), 0.5)
    even = dataclasses.replace(LIKELIHOOD, spread=np.ones(1))
    for likelihood in (even, dataclasses.replace(even, warp=warp)):
        ours = likelihood.expected_log_prob(np.abs(Y), values, key=KEY)
        theirs = likelihood.predict(values, key=KEY).expected_log_prob(np.abs(Y))
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@double
def test_observations_drawn_along_functions_have_the_predictive_distribution():
    key, many = jax.random.key(1), 4000
    f = MEAN[0, 1] + VARIANCE[0, 1] ** 0.5 * np.random.default_rng(7).normal(size=(1, many))
    drawn = LIKELIHOOD.draw_along(f, np.full((1, many), MEAN[0, 1]), key=key)[0]
    theirs = scipy.stats.t(4, MEAN[0, 1], 0.8 * np.sqrt(VARIANCE[0, 1] + 0.3**2))
    assert scipy.stats.kstest(np.asarray(drawn), theirs.cdf).pvalue > 1e-3


def test_many_degrees_of_freedom_are_normal():
    normal = AdaptiveNormal(np.array([0.3]), degrees_of_freedom=np.array([1e7]))
    predictive = normal.predict(Independent(MEAN, VARIANCE), key=KEY)
    theirs = scipy.stats.norm(MEAN[0], np.sqrt(VARIANCE[0] + 0.09))
    np.testing.assert_allclose(predictive.log_prob(Y), theirs.logpdf(Y), rtol=1e-5)
    np.testing.assert_allclose(predictive.quantile(0.9), theirs.ppf(0.9), rtol=1e-5)


def test_a_noise_function_multiplies_the_noise_at_each_row():
    x, factor = RANDOM.normal(size=(3, 2)), varying()
    away = (x[:, None] - factor.points) / factor.lengthscale
    logs = np.exp(-0.5 * np.sum(away**2, axis=-1)) @ factor.coefficients[0]
    at_rows = dataclasses.replace(LIKELIHOOD, factor=factor).at(x)
    np.testing.assert_allclose(at_rows.noise[0], 0.3 * np.exp(logs), rtol=1e-12)
    predictive = at_rows.predict(Independent(MEAN, VARIANCE), key=KEY)
    scale = 0.8 * np.sqrt(VARIANCE[0] + at_rows.noise[0] ** 2)
    expected = scipy.stats.t.logpdf(Y, 4, MEAN[0], scale)
    np.testing.assert_allclose(predictive.log_prob(Y), expected, rtol=1e-12)
    far = dataclasses.replace(LIKELIHOOD, factor=factor).at(np.full((1, 2), 1e3))
    assert far.noise[0] == pytest.approx(0.3)


@pytest.mark.parametrize("freedom", [3.0, 6.0])
def test_tails_are_found_in_residuals(freedom):
    random = np.random.default_rng(2)
    variances = random.uniform(0.5, 2.0, size=5000)
    residuals = 1.3 * np.sqrt(variances) * random.standard_t(freedom, size=5000)
    tails, logs = most_probable_tails(residuals, variances, np.ones(5000))
    assert tails.degrees_of_freedom in {3.0: (3.0, 4.0), 6.0: (4.0, 6.0, 10.0)}[freedom]
    assert tails.spread == pytest.approx(1.3, rel=0.06)
    theirs = scipy.stats.t.logpdf(
        residuals, tails.degrees_of_freedom, 0, tails.spread * np.sqrt(variances)
    )
    np.testing.assert_allclose(logs, theirs, rtol=1e-9)


def test_the_distribution_function_is_scipys():
    mean, variances, y = np.array([0.3, -1.0]), np.array([0.5, 2.0]), np.array([1.5, -4.0])
    predictive = StudentPredictive(mean, 0.4 * variances, 0.6 * variances, np.array([3.0, 7.0]))
    for place, freedom in enumerate((3.0, 7.0)):
        scale = np.sqrt(variances[place] * (freedom - 2) / freedom)
        expected = scipy.stats.t.cdf(y[place], freedom, mean[place], scale)
        assert predictive.cdf(y)[place] == pytest.approx(expected, rel=1e-12)
    level = predictive.cdf(y)
    np.testing.assert_allclose([predictive.quantile(q)[i] for i, q in enumerate(level)], y)


def test_normal_residuals_have_no_tails():
    residuals = np.random.default_rng(3).normal(size=3000)
    tails, _ = most_probable_tails(residuals, np.ones(3000), np.ones(3000))
    assert tails.degrees_of_freedom >= 20 and tails.spread == pytest.approx(1, rel=0.05)


def test_few_residuals_do_not_rule_out_tails_and_many_do():
    residuals = np.random.default_rng(3).normal(size=3000)
    few, many = (
        most_probable_tails(residuals[:n], np.ones(n), np.ones(n))[0].degrees_of_freedom
        for n in (40, 3000)
    )
    assert few < many
    # A row that counts a hundred times is a hundred rows.
    counted = most_probable_tails(residuals[:40], np.ones(40), np.full(40, 100.0))[0]
    assert counted.degrees_of_freedom > few


def left_out(noise_of, num_rows: int = 400) -> LeftOut:
    random = np.random.default_rng(4)
    x = random.uniform(-2, 2, size=(num_rows, 1))
    variances = np.full(num_rows, 0.01)
    noise = noise_of(x[:, 0])
    residuals = random.normal(size=num_rows) * np.sqrt(variances + noise**2)
    return LeftOut(x, residuals, variances, np.ones(num_rows))


def test_the_gradient_of_the_noise_function_is_its_derivative():
    rows, random = left_out(lambda x: 0.1 + 0 * x, 20), np.random.default_rng(5)
    basis, vector = random.normal(size=(20, 4)), 0.3 * random.normal(size=5)
    rows = rows._replace(weights=random.uniform(0.5, 2, size=20))
    for tails in (Tails(4.0, 0.8), Tails(100.0, 1.1)):
        found = _loss(vector, rows, basis, tails)[1]
        steps = 1e-6 * np.eye(5)
        expected = [
            (_loss(vector + s, rows, basis, tails)[0] - _loss(vector - s, rows, basis, tails)[0])
            / 2e-6
            for s in steps
        ]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_noise_that_varies_is_found_and_even_noise_is_left_alone():
    tails, lengths = Tails(100.0, 1.0), np.array([1.0])
    rows = left_out(lambda x: np.exp(x - 1))
    width = chosen_width(rows, lengths, 0.5, tails)
    assert width is not None
    shape = fitted_shape(rows, width * lengths, 0.5, tails)
    at = np.array([[-1.5], [0.0], [1.5]])
    np.testing.assert_allclose(np.log(shape.noise(at)), at[:, 0] - 1, atol=0.4)
    assert chosen_width(left_out(lambda x: 0.3 + 0 * x), lengths, 0.3, tails) is None


def test_the_noise_at_a_row_does_not_know_its_residual():
    rows, tails = left_out(lambda x: np.exp(x - 1), 150), Tails(10.0, 1.0)
    before = unseen_noise(rows, np.ones(1), 0.3, tails)
    moved = rows.residuals.copy()
    moved[17] += 30.0
    after = unseen_noise(rows._replace(residuals=moved), np.ones(1), 0.3, tails)
    fitted = [
        fitted_shape(rows._replace(residuals=r), np.ones(1), 0.3, tails).noise(rows.x)
        for r in (rows.residuals, moved)
    ]
    assert after[17] == pytest.approx(before[17], rel=1e-12)
    assert not np.allclose(after, before) and fitted[1][17] > 1.1 * fitted[0][17]


def test_without_time_noise_stays_even():
    rows, asked = left_out(lambda x: np.exp(x)), []

    def at_the_third() -> bool:
        asked.append(True)
        return len(asked) == 3

    tails = Tails(10.0, 1.0)
    assert chosen_width(rows, np.ones(1), 1.0, tails, stop=at_the_third) is None
    assert len(asked) == 3


@double
def test_a_row_left_out_is_one_that_was_never_there():
    random = np.random.default_rng(6)
    x = random.uniform(-2, 2, size=(130, 2))
    noise = 0.05 + 0.4 * (x[:, 0] > 0)
    y = np.sin(2 * x[:, 1]) + noise * random.standard_t(4, size=130)
    data, network = Data(x, y), MLP((8,))
    prior = Model(GaussianProcess(RBF(np.ones(2))), AdaptiveNormal(np.array([0.2])))
    params = network.init(x[:1], key=KEY)
    interpolation = Interpolation.at(tangents_of(network, params), prior.function, x, gamma=1e-10)

    def fitted(rows: Data, model: Model) -> Model:
        sums = sums_of_unit_noise(interpolation, model, rows)
        return adaptive_posterior(interpolation, model, rows, sums)

    posterior = fitted(data, prior)
    assert posterior.likelihood.factor is not None
    values = leave_one_out(posterior, data)
    scatter = posterior.likelihood.at(x).noise[0]
    assert np.mean(scatter[x[:, 0] > 0.3]) > 3 * np.mean(scatter[x[:, 0] < -0.3])
    # Without row 5 under the same noise: a Gaussian process that never saw it.
    rest = np.delete(np.arange(130), 5)
    cov = np.asarray(prior.function.at(x).cov[0])
    gram = cov[np.ix_(rest, rest)] + np.diag(scatter[rest] ** 2) + 1e-10 * 130 * np.eye(129)
    mean = cov[5, rest] @ np.linalg.solve(gram, y[rest])
    variance = cov[5, 5] - cov[5, rest] @ np.linalg.solve(gram, cov[rest, 5])
    assert values.mean[0, 5] == pytest.approx(mean, abs=1e-5)
    assert values.variance[0, 5] == pytest.approx(variance, rel=1e-3)
    # Noise and tails are chosen by the same residuals and variances.
    targets = targets_of(Model(prior.function, posterior.likelihood), data)
    solution = solved(interpolation, sums_over_rows(interpolation, x, targets))
    judged = _Judged.of(interpolation, prior, data, None, 1.0)
    place = int(np.flatnonzero(np.all(judged.x == x[5], axis=1))[0])
    [rows] = judged.left_out(solution, posterior.likelihood.at(judged.x).noise, 1.0)
    assert rows.residuals[place] == pytest.approx(y[5] - mean, abs=1e-5)
    assert rows.variances[place] == pytest.approx(variance, rel=1e-3)
    # Tails are those of residuals under noise that has not seen them: heavier than flattered ones.
    fitted = posterior.likelihood.at(judged.x).noise[0]
    flattered, _ = most_probable_tails(rows.residuals, rows.variances + fitted**2, rows.weights)
    chosen = Tails(*(float(getattr(posterior.likelihood, name)[0]) for name in Tails._fields))
    far = np.array([3.0])  # in standard deviations
    assert chosen.log_densities(far, np.ones(1)) > flattered.log_densities(far, np.ones(1)) + 0.05
