"""Likelihoods and scores against scipy.stats, numerical integration and published numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from gfsvi import metrics
from gfsvi.likelihoods import (
    Bernoulli,
    Categorical,
    CustomLikelihood,
    HeteroscedasticNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    WarpedNormal,
)
from gfsvi.predictives import (
    MixturePredictive,
    NormalPredictive,
    StudentPredictive,
    WarpedPredictive,
)
from gfsvi.predictives.warp import Warp
from gfsvi.values import Marginals, Samples

Y = np.array([-0.7, 0.2, 1.9])
F = np.array([[0.1, -0.4, 0.8], [0.3, 1.1, -0.6]])


def one_point(mean: list[float], cov: list[list[float]]) -> Marginals:
    return Marginals(jnp.asarray(mean)[:, None], jnp.asarray(cov)[None])


def test_log_probs_are_those_of_scipy():
    counts, labels = np.array([0, 3, 1]), np.array([1, 0, 1])
    probability = scipy.special.expit(F[0])
    pairs = [
        (Normal(0.3).log_prob(Y, F[:1]), scipy.stats.norm.logpdf(Y, F[0], 0.3)),
        (StudentT(0.3, 2.5).log_prob(Y, F[:1]), scipy.stats.t.logpdf(Y, 2.5, F[0], 0.3)),
        (Poisson().log_prob(counts, F[:1]), scipy.stats.poisson.logpmf(counts, np.exp(F[0]))),
        (
            NegativeBinomial(0.4).log_prob(counts, F[:1]),
            scipy.stats.nbinom.logpmf(counts, 1 / 0.4, 1 / (1 + 0.4 * np.exp(F[0]))),
        ),
        (Bernoulli().log_prob(labels, F[:1]), scipy.stats.bernoulli.logpmf(labels, probability)),
        (
            HeteroscedasticNormal(0.3).log_prob(Y, F),
            scipy.stats.norm.logpdf(Y, F[0], 0.3 * np.exp(F[1])),
        ),
        (
            Categorical().log_prob(labels, F),
            scipy.special.log_softmax(F, axis=0)[labels, np.arange(3)],
        ),
    ]
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_negative_binomial_has_the_moments_and_draws_of_scipy():
    likelihood, f = NegativeBinomial(0.4), F[:1]
    theirs = scipy.stats.nbinom(1 / 0.4, 1 / (1 + 0.4 * np.exp(F[0])))
    mean, variance = likelihood.moments(f)
    np.testing.assert_allclose(mean[0], theirs.mean())
    np.testing.assert_allclose(variance[0], theirs.var())
    drawn = np.asarray(likelihood.draw(f, 20_000, key=jax.random.key(0)))[:, 0]
    np.testing.assert_allclose(drawn.mean(axis=0), theirs.mean(), rtol=0.05)
    np.testing.assert_allclose(drawn.var(axis=0), theirs.var(), rtol=0.1)


def test_a_negative_binomial_without_dispersion_is_poisson():
    counts = np.array([0, 3, 1])
    ours = NegativeBinomial(1e-7).log_prob(counts, F[:1])
    np.testing.assert_allclose(ours, Poisson().log_prob(counts, F[:1]), rtol=1e-5)


def test_poisson_prediction_has_the_moments_of_a_log_normal_rate():
    predictive = Poisson().predict(one_point([0.5], [[0.3]]), key=jax.random.key(0))
    rate = scipy.stats.lognorm(np.sqrt(0.3), scale=np.exp(0.5))
    np.testing.assert_allclose(predictive.mean, rate.mean(), rtol=2e-3)
    np.testing.assert_allclose(predictive.aleatoric_variance, rate.mean(), rtol=2e-3)
    np.testing.assert_allclose(predictive.epistemic_variance, rate.var(), rtol=5e-2)


def test_student_quantiles_and_draws_are_those_of_scipy():
    likelihood, values = StudentT(0.5, 3.0), Samples(jnp.full((1, 1, 2), 0.7))
    predictive = likelihood.predict(values, key=jax.random.key(0))
    theirs = scipy.stats.t(3.0, 0.7, 0.5)
    levels = np.array([0.1, 0.5, 0.9])
    shares = theirs.cdf(np.asarray(predictive.quantile(levels)))
    np.testing.assert_allclose(shares, np.stack([levels, levels], axis=1), atol=0.03)
    draws = np.asarray(likelihood.draw(jnp.full((1, 1), 0.7), 20_000, key=jax.random.key(1)))
    assert scipy.stats.kstest(draws.ravel(), theirs.cdf).pvalue > 1e-3
    np.testing.assert_allclose(predictive.variance, theirs.var(), rtol=1e-12)
    assert np.all(np.isinf(StudentT(0.5, 2.0).moments(jnp.zeros((1, 1)))[1]))


BENT = Warp(centre=-0.5, stretch=0.2, offset=0.3, unit=0.8, low=(-1.0,), high=(2.0,))


@pytest.mark.parametrize("f", [-2.0, 0.3, 1.4, 4.0])
def test_a_warped_normal_has_the_moments_of_the_integral(f):
    likelihood = WarpedNormal(0.3, BENT)
    mean, variance = (float(part[0, 0]) for part in likelihood.moments(jnp.full((1, 1), f)))

    def expectation(function) -> float:
        def integrand(z: float) -> float:
            y = float(BENT.inverse(np.full((1, 1), z))[0, 0])
            return function(y) * scipy.stats.norm.pdf(z, f, 0.3)

        ends = [float(BENT.forward(np.full((1, 1), end))[0, 0]) for end in (-1.0, 2.0)]
        inner = [end for end in ends if abs(end - f) < 2.4]
        return scipy.integrate.quad(integrand, f - 2.4, f + 2.4, points=inner or None)[0]

    theirs = expectation(lambda y: y)
    np.testing.assert_allclose(mean, theirs, rtol=2e-4)
    np.testing.assert_allclose(variance, expectation(lambda y: (y - theirs) ** 2), rtol=2e-3)


def test_a_warped_normal_without_ends_has_the_moments_and_draws_of_johnson():
    endless = Warp(centre=-0.5, stretch=0.2, offset=0.3, unit=0.8)
    f, spread = 0.7, 0.8 * 0.25
    theirs = scipy.stats.johnsonsu(-(0.8 * f + 0.3) / spread, 1 / spread, -0.5, 0.2)
    likelihood, at = WarpedNormal(0.25, endless), jnp.full((1, 1), f)
    mean, variance = likelihood.moments(at)
    np.testing.assert_allclose([mean[0, 0], variance[0, 0]], theirs.stats("mv"), rtol=1e-10)
    draws = np.asarray(likelihood.draw(at, 20_000, key=jax.random.key(0))).ravel()
    assert scipy.stats.kstest(draws, theirs.cdf).pvalue > 1e-3


def test_moments_are_those_of_scipy():
    f, probability = jnp.asarray(F), scipy.special.expit(F[:1])
    shares = scipy.special.softmax(F, axis=0)
    rate, std = np.exp(F), 0.3 * np.exp(F[1:])
    for (mean, variance), (their_mean, their_variance) in (
        (Normal([0.3, 0.5]).moments(f), (F, np.broadcast_to([[0.09], [0.25]], F.shape))),
        (Poisson().moments(f), (rate, scipy.stats.poisson(rate).var())),
        (HeteroscedasticNormal(0.3).moments(f), (F[:1], std**2)),
        (Bernoulli().moments(f[:1]), (np.concatenate([1 - probability, probability]), None)),
        (Categorical().moments(f), (shares, scipy.stats.bernoulli(shares).var())),
    ):
        np.testing.assert_allclose(mean, their_mean, rtol=1e-12)
        if their_variance is None:
            their_variance = np.tile(scipy.stats.bernoulli(probability).var(), (2, 1))
        np.testing.assert_allclose(variance, their_variance, rtol=1e-12)


def test_the_noise_is_the_standard_deviation_on_the_function_s_scale():
    np.testing.assert_allclose(Normal([0.3, 0.5]).noise_std, [0.3, 0.5])
    np.testing.assert_allclose(HeteroscedasticNormal(0.3).noise_std, [0.3])
    np.testing.assert_allclose(WarpedNormal(0.3, BENT).noise_std, [0.3])
    student = StudentT(0.5, [3.0, 2.0, 1.0])
    np.testing.assert_allclose(student.noise_std, [scipy.stats.t(3.0, 0, 0.5).std(), 0.5, 0.5])


def gamma_density(y: jax.Array, f: jax.Array) -> jax.Array:
    return jax.scipy.stats.gamma.logpdf(y, 3.0, scale=jnp.exp(f[0]))


def beta_density(y: jax.Array, f: jax.Array) -> jax.Array:
    return jax.scipy.stats.beta.logpdf(y, jnp.exp(f[0]), 2.0)


def shifted_density(y: jax.Array, f: jax.Array) -> jax.Array:
    return jax.scipy.stats.norm.logpdf(y, f[0] + 0.5, jnp.exp(f[1]))


@pytest.mark.parametrize(
    ("likelihood", "f", "theirs"),
    [
        (
            CustomLikelihood(gamma_density, support=(0, np.inf)),
            [-2.0],
            scipy.stats.gamma(3.0, scale=np.exp(-2.0)),
        ),
        (
            CustomLikelihood(gamma_density, support=(0, np.inf)),
            [3.0],
            scipy.stats.gamma(3.0, scale=np.exp(3.0)),
        ),
        (
            CustomLikelihood(beta_density, support=(0, 1)),
            [-0.5],
            scipy.stats.beta(np.exp(-0.5), 2.0),
        ),
        (
            CustomLikelihood(shifted_density, 2),
            [100.0, -2.0],
            scipy.stats.norm(100.5, np.exp(-2.0)),
        ),
    ],
)
def test_a_custom_density_has_the_moments_and_draws_of_scipy(likelihood, f, theirs):
    f = jnp.asarray(f)[:, None]
    mean, variance = likelihood.moments(f)
    np.testing.assert_allclose(mean[0, 0], theirs.mean(), rtol=5e-3)
    np.testing.assert_allclose(variance[0, 0], theirs.var(), rtol=2e-2)
    draws = np.asarray(likelihood.draw(f, 5_000, key=jax.random.key(0))).ravel()
    assert scipy.stats.kstest(draws, theirs.cdf).pvalue > 1e-3
    np.testing.assert_allclose(
        likelihood.log_prob(draws[:5], jnp.tile(f, 5)), theirs.logpdf(draws[:5]), rtol=1e-8
    )


def test_a_custom_density_that_returns_an_array_raises():
    likelihood = CustomLikelihood(lambda y, f: -jnp.square(y - f))
    with pytest.raises(ValueError, match=r"one number; got an array of shape \(1,\).*f\[0\]"):
        likelihood.log_prob(Y, F[:1])


def test_dirichlet_targets_are_the_published_numbers():
    # methods.md 15.9: on-target s2 = 0.688, t = -0.334; off-target s2 = 4.615, t = -6.913
    labels = np.array([0, 1, 0, 0])
    targets, variances = Categorical().gaussian_targets(labels)[:2]
    on, off = variances[0, 0], variances[1, 0]
    np.testing.assert_allclose([on, off], [0.688, 4.615], atol=1e-3)
    raw = np.where(np.eye(2)[labels].T == 1, -0.334, -6.913)
    log_share = np.log([[0.75], [0.25]])
    np.testing.assert_allclose(targets, raw - (log_share + np.mean(raw - log_share)), atol=2e-3)
    binary, noise = Bernoulli().gaussian_targets(labels)[:2]
    np.testing.assert_allclose(binary[0], targets[1] - targets[0], rtol=1e-12)
    np.testing.assert_allclose(noise[0], 0.688 + 4.615, atol=2e-3)


def test_a_class_without_labels_has_finite_targets():
    targets, _ = Categorical(num_classes=4).gaussian_targets(np.array([0, 2, 1]))[:2]
    assert targets.shape == (4, 3)
    assert jnp.all(jnp.isfinite(targets))


def test_other_gaussian_targets_are_as_documented():
    counts = np.array([0, 4])
    targets, variances = Poisson().gaussian_targets(counts)[:2]
    np.testing.assert_allclose(targets[0], np.log([0.5, 4.5]))
    np.testing.assert_allclose(variances[0], [2, 1 / 4.5])
    np.testing.assert_allclose(StudentT(0.5, 4.0).gaussian_targets(Y)[1], 0.5)
    np.testing.assert_allclose(StudentT(0.5, 1.5).gaussian_targets(Y)[1], 0.25)
    targets, variances = HeteroscedasticNormal(0.3).gaussian_targets(Y)[:2]
    assert targets.shape == (1, 3)
    np.testing.assert_allclose(variances, 0.09)


def test_normal_crps_is_the_integral_of_the_squared_distance_of_distributions():
    predictive = NormalPredictive(np.array([0.3]), np.array([0.5]), np.array([0.2]))
    normal, y = scipy.stats.norm(0.3, np.sqrt(0.7)), 1.4
    below = scipy.integrate.quad(lambda z: normal.cdf(z) ** 2, -10, y)[0]
    above = scipy.integrate.quad(lambda z: normal.sf(z) ** 2, y, 10)[0]
    np.testing.assert_allclose(metrics.crps(predictive, [y]), below + above, rtol=1e-8)


@pytest.mark.parametrize("freedom", [2.2, 4.0, 30.0, 1e6])
@pytest.mark.parametrize("y", [0.3, 1.4, -9.0])
def test_students_crps_is_the_integral_of_the_squared_distance_of_distributions(freedom, y):
    variances = (np.array([v]) for v in (0.5, 0.2))
    predictive = StudentPredictive(np.array([0.3]), *variances, np.array([freedom]))
    student = scipy.stats.t(freedom, 0.3, np.sqrt(0.7 * (freedom - 2) / freedom))
    # In parts, because the tails reach far.
    below = sum(
        scipy.integrate.quad(lambda z: student.cdf(z) ** 2, *ends)[0]
        for ends in ((-np.inf, y - 5), (y - 5, y))
    )
    above = sum(
        scipy.integrate.quad(lambda z: student.sf(z) ** 2, *ends)[0]
        for ends in ((y, y + 5), (y + 5, np.inf))
    )
    np.testing.assert_allclose(metrics.crps(predictive, [y]), below + above, rtol=3e-4)


def test_the_crps_of_a_warped_predictive_is_the_integral_over_its_distribution():
    normal = NormalPredictive(np.array([0.2]), np.array([0.5]), np.array([0.2]))
    warp = Warp(centre=1.0, stretch=0.5, offset=0.3, unit=1.2)
    predictive, y = WarpedPredictive.of(warp, normal), 2.3
    cdf = lambda z: float(np.ravel(predictive.cdf(np.array([z])))[0])  # noqa: E731
    below = scipy.integrate.quad(lambda z: cdf(z) ** 2, -60, y, limit=200)[0]
    above = scipy.integrate.quad(lambda z: (1 - cdf(z)) ** 2, y, 120, limit=200)[0]
    np.testing.assert_allclose(metrics.crps(predictive, [y]), below + above, rtol=3e-4)


def test_sampled_crps_agrees_with_the_closed_form():
    mean, std = np.linspace(-1, 1, 40), 0.7
    normal = NormalPredictive(mean, np.full(40, 0.48), np.full(40, 0.01))
    nodes = scipy.stats.norm.ppf((np.arange(400) + 0.5) / 400) * np.sqrt(0.48)
    f = np.stack([mean + nodes[:, None], np.zeros((400, 40))], axis=1)
    mixture = MixturePredictive.of(HeteroscedasticNormal(0.1), jnp.asarray(f))
    y = mean + std * np.random.default_rng(0).standard_normal(40)
    np.testing.assert_allclose(metrics.crps(mixture, y), metrics.crps(normal, y), rtol=2e-2)
