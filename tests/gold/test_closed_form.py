"""The closed-form posterior of a linearised network against independent formulas."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false
# pyright: reportIndexIssue=false, reportArgumentType=false

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import multivariate_normal

from gfsvi import Data, Model
from gfsvi.fields import HelmholtzKernel, HelmholtzNetwork, rows_at
from gfsvi.functions import ConditionedProcess, GaussianProcess
from gfsvi.inference.conjugate import (
    Interpolation,
    posterior_of,
    solved,
    sums_over_rows,
    tangents_of,
)
from gfsvi.inference.conjugate_fit import (
    closed_form_posterior,
    conjugate_posterior,
    natural_gradient_posterior,
)
from gfsvi.inference.leave_one_out import leave_one_out
from gfsvi.inference.linearised_evidence import linearised_evidence
from gfsvi.inference.white_rows import WhiteRows, unwhitened
from gfsvi.kernels import RBF, Matern12, Matern32, Matern52, Periodic
from gfsvi.likelihoods import (
    AdaptiveNormal,
    Bernoulli,
    Categorical,
    Normal,
    Poisson,
    StudentT,
)
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double
from gfsvi.portable.numpy_ops import NumpyOps
from gfsvi.portable.process import PortableProcess

NOISE = 0.2
NUM_FEATURES = 5


class Case:
    """A random network, rows and more points, under a prior."""

    def __init__(self, prior, network, x, extra, *, gamma=1e-14, eps=1e-11):
        random = np.random.default_rng(0)
        self.prior, self.x = prior, x
        self.y = np.sin(x[:, 0]) + NOISE * random.normal(size=len(x))
        self.points = np.concatenate([x, extra])
        key = jax.random.key(1)
        params = network.init(jnp.asarray(x), key=key, dtype=jnp.float64)
        self.tangents = tangents_of(network, params)
        self.targets = Normal(NOISE).gaussian_targets(self.y)
        self.interpolation = Interpolation.at(
            self.tangents, prior, self.points, gamma=gamma, eps=eps
        )

    @property
    def sums(self):
        return sums_over_rows(self.interpolation, self.x, self.targets)

    @property
    def posterior(self):
        return posterior_of(self.interpolation, solved(self.interpolation, self.sums))

    @property
    def exact(self):
        targets = self.targets
        return ConditionedProcess.given(
            self.prior, jnp.asarray(self.x), targets.values, targets.variance
        )


def features(seed, count):
    return np.random.default_rng(seed).normal(size=(count, NUM_FEATURES))


KERNELS = {
    "rbf": RBF(1.5),
    "matern52": Matern52(2.0),
    "matern32": Matern32(2.0),
    "periodic": Periodic(1.0, 1.0, 4.0),
}


@double
def case_of(name):
    if name != "helmholtz":
        prior = GaussianProcess(KERNELS[name])
        return Case(prior, MLP((200, 200)), features(1, 25), features(2, 10))
    random = np.random.default_rng(3)
    rows = rows_at(random.uniform(-1, 1, size=(14, 2)))
    prior = GaussianProcess(HelmholtzKernel(RBF(0.7), RBF(0.4)))
    network = HelmholtzNetwork(MLP((80, 80)), MLP((80, 80)))
    return Case(prior, network, rows[:20], rows[20:])


@double
@pytest.mark.parametrize("name", [*KERNELS, "helmholtz"])
def test_with_the_rows_among_the_points_it_is_the_exact_process_there(name):
    case = case_of(name)
    found, expected = case.posterior.at(case.points), case.exact.at(case.points)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-6)
    np.testing.assert_allclose(found.cov, expected.cov, atol=1e-6)


@double
def test_marginals_are_the_diagonal_of_the_joint_covariance():
    case = case_of("matern52")
    x = features(4, 12)
    joint, marginals = case.posterior.at(x), case.posterior.marginals(x)
    np.testing.assert_allclose(marginals.variance, joint.variance, rtol=1e-8)
    np.testing.assert_allclose(marginals.mean, joint.mean, rtol=1e-10)


@double
def test_far_from_all_points_the_prior_comes_back():
    case = case_of("rbf")
    far = np.sqrt(case.posterior.marginals(features(5, 4) + 100.0).variance)
    # The prior's own standard deviation is 1; a saturated network adds what it cannot forget.
    assert np.all(far >= 1.0) and np.all(far <= 1.5)


@double
def test_blocks_of_rows_add_up_to_all_at_once():
    case = case_of("matern52")
    whole = case.sums
    blocks = sums_over_rows(case.interpolation, case.x, case.targets, block=7)
    for one, other in zip(whole, blocks, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@double
def test_leave_one_out_is_refitting_without_the_row():
    case = case_of("matern32")
    posterior = posterior_of(case.interpolation, solved(case.interpolation, case.sums))
    found = leave_one_out(Model(posterior, Normal(NOISE)), Data(case.x, case.y))
    for row in range(0, 25, 6):
        rest = np.delete(np.arange(25), row)
        targets = Normal(NOISE).gaussian_targets(case.y[rest])
        sums = sums_over_rows(case.interpolation, case.x[rest], targets)
        refitted = posterior_of(case.interpolation, solved(case.interpolation, sums))
        values = refitted.marginals(case.x[row : row + 1])
        np.testing.assert_allclose(found.mean[0, row], values.mean[0, 0], rtol=1e-5)
        np.testing.assert_allclose(found.variance[0, row], values.variance[0, 0], rtol=1e-4)


@double
def test_the_evidence_is_that_of_the_dense_formula():
    case = case_of("matern52")
    f, weights = case.interpolation.rows(case.x)
    distance = (case.interpolation.prior_mean - case.interpolation.values)[0]
    factor = case.interpolation.prior_factor
    white = weights[0] @ factor
    cov = white @ white.T + NOISE**2 * np.eye(len(case.x))
    expected = multivariate_normal(f[0] + weights[0] @ distance, cov).logpdf(case.y)
    found = solved(case.interpolation, case.sums).log_evidence
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@double
def test_rounds_in_white_coordinates_solve_the_same_regression():
    case = case_of("matern52")
    at = case.interpolation
    targets = case.targets._replace(variance=np.linspace(0.01, 2.0, len(case.x))[None])
    rows = WhiteRows.at(at, case.x)
    white = rows.solved(targets)
    found, expected = unwhitened(at, white), solved(at, sums_over_rows(at, case.x, targets))
    np.testing.assert_allclose(found.shift, expected.shift, rtol=1e-8, atol=1e-10)
    covs = (part.root[0] @ part.root[0].T for part in (found, expected))
    np.testing.assert_allclose(*covs, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.log_evidence, expected.log_evidence, rtol=1e-10)
    marginals = posterior_of(at, expected).marginals(case.x)
    mean, variance = rows.moments(white)
    np.testing.assert_allclose(mean, marginals.mean, atol=1e-9)
    np.testing.assert_allclose(variance, marginals.variance, atol=1e-9)


@double
def test_the_evidence_of_a_trained_network_is_that_of_the_process_where_rows_are_points():
    case = case_of("matern52")
    data, priors = Data(case.x, case.y), (GaussianProcess(Matern52(2.0)), GaussianProcess(RBF(1.0)))
    for prior, noise in zip(priors, (NOISE, 0.5), strict=True):
        cov = np.asarray(prior.at(case.x).cov[0]) + noise**2 * np.eye(len(case.x))
        expected = multivariate_normal(np.zeros(len(case.x)), cov).logpdf(case.y)
        fit = Model(case.posterior, Normal(NOISE))
        found = linearised_evidence(fit, Model(prior, Normal(noise)), data)
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("likelihood, words", [(Poisson(), "Poisson"), (Normal(), "closed form")])
def test_evidence_that_cannot_be_had_is_refused_in_one_sentence(likelihood, words):
    case = case_of("rbf")
    posterior = case.posterior if isinstance(likelihood, Poisson) else case.prior
    models = Model(posterior, Normal(NOISE)), Model(case.prior, likelihood)
    with pytest.raises(ValueError, match=words):
        linearised_evidence(*models, Data(case.x, np.ones(len(case.x))))


@double
def test_drawn_functions_have_the_stated_covariance_and_agree_with_themselves():
    case = case_of("matern52")
    x = features(6, 3)
    values = case.posterior.at(x)
    functions = [
        case.posterior.sample_function(key=k) for k in jax.random.split(jax.random.key(0), 600)
    ]
    draws = np.stack([np.concatenate([f(x[:2]), f(x[2:])])[:, 0] for f in functions])
    np.testing.assert_allclose(draws.mean(axis=0), values.mean[0], atol=0.15)
    np.testing.assert_allclose(np.cov(draws.T), values.cov[0], atol=0.12)
    again = case.posterior.sample_function(key=jax.random.key(7))
    first = np.asarray(again(x))
    np.testing.assert_allclose(np.asarray(again(x[1:2])), first[1:2], atol=1e-3)


def observed(likelihood):
    random = np.random.default_rng(8)
    x = features(9, 20)
    if isinstance(likelihood, Poisson):
        return x, random.poisson(np.exp(x[:, 0] / 2))
    if isinstance(likelihood, StudentT):
        return x, x[:, 0] + 0.1 * random.standard_t(3, size=20)
    return x, (x[:, 0] > 0).astype(int)


@double
@pytest.mark.parametrize(
    "likelihood", [Bernoulli(), Poisson(), StudentT(0.3, 5.0), Categorical(2)], ids=repr
)
def test_the_fixed_point_of_other_likelihoods_has_no_gradient(likelihood):
    x, y = observed(likelihood)
    data = Data(x, y)
    outputs = likelihood.num_outputs(y)
    prior = GaussianProcess(Matern52(2.0), outputs=outputs)
    case = Case(prior, MLP((100,), outputs), x, features(10, 5), eps=1e-9)
    model = natural_gradient_posterior(
        case.interpolation, Model(prior, likelihood), data, num_rounds=60
    )
    at_rows = model.function.marginals(x)
    size = len(case.points)
    gram = np.asarray(prior.at(case.points).cov[0]) + 1e-14 * size * np.eye(size)

    def expected(mean):
        values = type(at_rows)(jnp.reshape(mean, at_rows.mean.shape), at_rows.cov)
        return jnp.sum(likelihood.expected_log_prob(jnp.asarray(y), values, key=jax.random.key(0)))

    # d/du [E log p - (u - mu)' K^-1 (u - mu) / 2] = 0 at the points: K^-1 u is the slope at rows.
    slope = np.reshape(jax.grad(expected)(jnp.ravel(at_rows.mean)), at_rows.mean.shape)
    at_points = np.asarray(model.function.at(case.points).mean)
    pull = np.linalg.solve(gram, at_points.T).T
    np.testing.assert_allclose(pull[:, :20], slope, atol=2e-3)
    np.testing.assert_allclose(pull[:, 20:], 0.0, atol=2e-3)


@double
def test_the_noise_is_the_one_under_which_rows_left_out_are_most_probable():
    case = case_of("matern52")
    prior = Model(case.prior, Normal(np.array([1.0])))
    data = Data(case.x, case.y)
    found = closed_form_posterior(case.interpolation, prior, data, learn_noise=True)
    # The sums over rows were scaled to this noise instead of being made again.
    again = conjugate_posterior(case.interpolation, Model(prior.function, found.likelihood), data)
    for one, other in zip(
        jax.tree.leaves(found.function), jax.tree.leaves(again.function), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
    noise = float(found.likelihood.noise[0])

    def density(log_noise):
        likelihood = Normal(np.exp(log_noise[0]))
        targets = likelihood.gaussian_targets(case.y)
        solution = solved(case.interpolation, sums_over_rows(case.interpolation, case.x, targets))
        posterior = posterior_of(case.interpolation, solution)
        left_out = leave_one_out(Model(posterior, likelihood), Data(case.x, case.y))
        total = left_out.variance + np.exp(2 * log_noise[0])
        return np.mean(-0.5 * np.log(total) - 0.5 * (case.y - left_out.mean) ** 2 / total)

    assert abs(approx_fprime([np.log(noise)], density, 1e-4)[0]) < 1e-2


@double
def test_what_rows_say_between_the_points_narrows_the_process_there_and_not_far_away():
    case = case_of("matern52")
    narrow = posterior_of(case.interpolation, solved(case.interpolation, case.sums), near=0.25)
    x = np.concatenate([features(4, 6), case.points[:2] + 0.3, features(5, 4) + 100.0])
    wide, found = case.posterior.at(x), narrow.at(x)
    gram, explained = np.asarray(case.prior.at(x).cov[0]), narrow.whitener
    explained = explained @ np.asarray(case.prior.kernel.cross(x, case.points)).T
    left = gram - explained.T @ explained
    kept = np.sqrt(0.25 + 0.75 * np.diagonal(left) / np.diagonal(gram))
    expected = wide.cov[0] - left + kept[:, None] * left * kept
    np.testing.assert_allclose(found.cov[0], expected, atol=1e-8)
    np.testing.assert_allclose(found.cov[0, -4:, -4:], wide.cov[0, -4:, -4:], atol=1e-8)
    assert np.all(np.diagonal(found.cov[0])[:8] < np.diagonal(wide.cov[0])[:8])
    np.testing.assert_allclose(narrow.marginals(x).variance, found.variance, rtol=1e-8)
    np.testing.assert_allclose(narrow.in_numpy.marginals(x)[1], found.variance, rtol=1e-8)
    np.testing.assert_allclose(narrow.in_numpy.joint(x)[1], found.cov, atol=1e-8)
    np.testing.assert_allclose(narrow.design(x)[2], narrow.in_numpy.design(x)[2], atol=1e-8)
    ops, process = NumpyOps(), PortableProcess(narrow.in_numpy)
    seen = process.seen(ops, x)
    np.testing.assert_allclose(process.variance(ops, seen, 0)[:, 0], found.variance[0], rtol=1e-8)
    np.testing.assert_allclose(process.covariance(ops, seen, seen, 0), found.cov[0], atol=1e-8)


def smooth_rows(count, seed):
    x = np.random.default_rng(seed).uniform(-2, 2, size=(count, 2))
    noise = np.random.default_rng(seed + 1).normal(size=count)
    return Data(x, np.sin(x[:, 0]) * np.cos(x[:, 1]) + 0.05 * noise)


@double
@pytest.mark.parametrize("likelihood", [Normal(np.array([1.0])), AdaptiveNormal()], ids=repr)
def test_held_out_rows_narrow_a_prior_that_is_too_rough_between_the_points(likelihood):
    data, held_out, new = smooth_rows(600, 1), smooth_rows(300, 3), smooth_rows(300, 5)
    prior = Model(GaussianProcess(Matern12(1.0)), likelihood)
    network = MLP((40,))
    tangents = tangents_of(network, network.init(data.x, key=jax.random.key(0), dtype=jnp.float64))
    at = Interpolation.at(tangents, prior.function, data.x[:60], gamma=1e-10)
    found = closed_form_posterior(at, prior, data, learn_noise=True, validation=held_out)
    assert found.function.near < 1
    wide = Model(dataclasses.replace(found.function, near=1.0), found.likelihood)
    narrow, wide = (np.mean(model.predict(new.x).log_prob(new.y)) for model in (found, wide))
    assert narrow > wide + 0.05


@double
def test_a_prior_that_is_right_between_the_points_is_left_as_it_is():
    random = np.random.default_rng(4)
    x = random.uniform(-2, 2, size=(700, 2))
    prior = GaussianProcess(Matern12(1.0))
    cov = np.asarray(prior.at(x).cov[0]) + 1e-10 * np.eye(len(x))
    y = np.linalg.cholesky(cov) @ random.normal(size=len(x)) + 0.05 * random.normal(size=len(x))
    network = MLP((40,))
    tangents = tangents_of(network, network.init(x, key=jax.random.key(0), dtype=jnp.float64))
    at = Interpolation.at(tangents, prior, x[:60], gamma=1e-10)
    model, held_out = Model(prior, Normal(np.array([1.0]))), Data(x[400:], y[400:])
    found = closed_form_posterior(
        at, model, Data(x[:60], y[:60]), learn_noise=True, validation=held_out
    )
    assert found.function.near == 1
