"""Expected log-likelihoods against scipy.integrate, Gauss-Hermite rules and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats

from gfsvi.likelihoods import Bernoulli, Categorical, HeteroscedasticNormal, Poisson, StudentT
from gfsvi.values import Gaussian, Marginals


def one_point(mean: list[float], cov: list[list[float]]) -> Marginals:
    return Marginals(jnp.asarray(mean)[:, None], jnp.asarray(cov)[None])


def test_heteroscedastic_expectation_is_that_of_correlated_draws():
    mean, cov = [0.4, -0.3], [[0.5, 0.25], [0.25, 0.3]]
    likelihood, y = HeteroscedasticNormal(0.6), np.array([1.3])
    closed = likelihood.expected_log_prob(y, one_point(mean, cov), key=jax.random.key(0))[0]
    draws = np.random.default_rng(0).multivariate_normal(mean, cov, 400_000)
    log_probs = scipy.stats.norm.logpdf(1.3, draws[:, 0], 0.6 * np.exp(draws[:, 1]))
    assert abs(closed - np.mean(log_probs)) < 4 * np.std(log_probs) / np.sqrt(len(draws))
    independent = one_point(mean, [[0.5, 0.0], [0.0, 0.3]])
    without = likelihood.expected_log_prob(y, independent, key=jax.random.key(0))[0]
    assert abs(closed - without) > 0.3  # the covariance between mean and noise matters


@pytest.mark.parametrize("variance", [0.01, 1.0, 9.0])
@pytest.mark.parametrize(
    ("likelihood", "y"), [(Bernoulli(), 1), (Poisson(), 3), (StudentT(0.3, 3.0), 0.5)]
)
def test_expectations_are_the_integrals(likelihood, y, variance):
    values = one_point([0.2], [[variance]])
    ours = likelihood.expected_log_prob(np.array([y]), values, key=jax.random.key(0))[0]
    nodes, std = np.linspace(-12, 12, 200_001), np.sqrt(variance)
    log_probs = jax.vmap(lambda f: likelihood.log_prob(np.array([y]), f))(
        0.2 + std * nodes[:, None, None]
    )[:, 0]
    theirs = np.trapezoid(np.asarray(log_probs) * scipy.stats.norm.pdf(nodes), nodes)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7)


def integral(log_density, mean: float, std: float, *bends: float) -> float:
    """E[log_density(f)] under N(mean, std^2), subdivided at `bends`."""
    ends = mean - 10 * std, mean + 10 * std
    inner = [bend for bend in bends if ends[0] < bend < ends[1]]
    return scipy.integrate.quad(
        lambda f: log_density(f) * scipy.stats.norm.pdf(f, mean, std),
        *ends,
        points=inner or None,
        limit=1000,
        epsabs=1e-11,
        epsrel=1e-11,
    )[0]


@pytest.mark.parametrize("scale", [1e-6, 1e-4, 1e-2, 0.3, 10.0])
@pytest.mark.parametrize("y", [0.2, 0.27, 1.5, 5.1, 6.0, -40.0])
def test_a_student_t_narrower_than_the_function_has_the_expectation_of_scipy(scale, y):
    likelihood, values = StudentT(scale, 4.0), one_point([0.2], [[1.0]])
    ours = likelihood.expected_log_prob(np.array([y]), values, key=jax.random.key(0))[0]
    bends = [y + times * scale for times in (-30, -3, 0, 3, 30)]
    theirs = integral(lambda f: scipy.stats.t.logpdf(y, 4.0, f, scale), 0.2, 1.0, *bends)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)


def test_each_output_of_a_student_t_has_its_own_nodes():
    likelihood = StudentT(np.array([1e-3, 0.5]), np.array([3.0, 8.0]))
    y, mean, variance = np.array([[0.4, 2.0]]), [0.3, -1.0], [2.0, 0.01]
    for values in (
        one_point(mean, np.diag(variance)),
        Gaussian(jnp.asarray(mean)[:, None], jnp.asarray(variance)[:, None, None]),
    ):
        ours = likelihood.expected_log_prob(y, values, key=jax.random.key(0))[0]
        first = integral(
            lambda f: scipy.stats.t.logpdf(0.4, 3.0, f, 1e-3), 0.3, np.sqrt(2), 0.39, 0.4, 0.41
        )
        second = integral(lambda f: scipy.stats.t.logpdf(2.0, 8.0, f, 0.5), -1.0, 0.1)
        np.testing.assert_allclose(ours, first + second, atol=1e-6)


def test_the_slopes_of_a_narrow_student_t_s_expectation_are_those_of_the_integral():
    def ours(mean: jax.Array, variance: jax.Array, scale: jax.Array) -> jax.Array:
        values = Marginals(mean[None, None], variance[None, None, None])
        likelihood = StudentT(scale, jnp.asarray(4.0))
        return likelihood.expected_log_prob(jnp.array([0.7]), values, key=jax.random.key(0))[0]

    def theirs(mean: float, variance: float, scale: float) -> float:
        log_density = lambda f: scipy.stats.t.logpdf(0.7, 4.0, f, scale)  # noqa: E731
        return integral(log_density, mean, np.sqrt(variance), 0.6, 0.7, 0.8)

    at = np.array([0.3, 1.4, 0.02])
    slopes = jax.grad(ours, argnums=(0, 1, 2))(*map(jnp.asarray, at))
    for slope, step in zip(slopes, 1e-4 * np.eye(3), strict=True):
        rise = theirs(*(at + step)) - theirs(*(at - step))
        np.testing.assert_allclose(slope, rise / 2e-4, rtol=1e-4)


@pytest.mark.parametrize("variance", [1e-6, 4.0, 2500.0])
@pytest.mark.parametrize("mean", [0.0, -3.0, 200.0])
def test_a_bernoulli_expectation_is_the_integral_however_uncertain_the_function(mean, variance):
    ours = Bernoulli().expected_log_prob(
        np.array([1]), one_point([mean], [[variance]]), key=jax.random.key(0)
    )[0]
    theirs = integral(scipy.special.log_expit, mean, np.sqrt(variance), -30.0, 0.0, 30.0)
    np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-10)


def log_sum_exp_of_three(mean: np.ndarray, cov: np.ndarray) -> float:
    """E[logsumexp(f)] by a product of Gauss-Hermite rules, exact to all digits shown."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    grid = np.stack(np.meshgrid(nodes, nodes, nodes, indexing="ij"), axis=-1)
    weight = np.einsum("i,j,k->ijk", weights, weights, weights) / weights.sum() ** 3
    f = mean + grid @ np.linalg.cholesky(cov).T
    return float(np.sum(weight * scipy.special.logsumexp(f, axis=-1)))


@pytest.mark.parametrize("num_samples", [15, 16, 64])
@pytest.mark.parametrize("num_classes", [2, 3])
def test_the_expectation_over_classes_is_unbiased_over_keys(num_classes, num_samples):
    mean, std = np.array([0.5, -0.3, 1.0])[:num_classes], 2.0
    cov = std**2 * (np.eye(num_classes) + 0.3)
    if num_classes == 2:  # log p(0) = log sigmoid(f0 - f1)
        difference = np.sqrt(cov[0, 0] + cov[1, 1] - 2 * cov[0, 1])
        exact = integral(scipy.special.log_expit, mean[0] - mean[1], difference)
    else:
        exact = mean[0] - log_sum_exp_of_three(mean, cov)
    likelihood, values = Categorical(num_samples=num_samples), one_point(mean, cov)
    keys = jax.random.split(jax.random.key(0), 8000)
    own = jax.vmap(lambda k: likelihood.expected_log_prob(np.array([0]), values, key=k)[0])(keys)
    error = abs(float(jnp.mean(own)) - exact)
    assert error < 4 * float(jnp.std(own)) / np.sqrt(len(own))
    assert error < 5e-3
    assert float(jnp.std(own)) < (0.05 if num_samples == 64 else 0.25)


def test_poisson_expectation_has_the_closed_form():
    values = one_point([0.7], [[0.4]])
    ours = Poisson().expected_log_prob(np.array([4]), values, key=jax.random.key(0))[0]
    np.testing.assert_allclose(ours, 4 * 0.7 - np.exp(0.9) - np.log(24), rtol=1e-12)
