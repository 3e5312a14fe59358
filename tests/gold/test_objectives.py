"""What methods maximise, term by term, against formulas written down here."""

# pyright: reportArgumentType=false, reportAttributeAccessIssue=false, reportCallIssue=false
# pyright: reportOptionalMemberAccess=false, reportIndexIssue=false, reportOperatorIssue=false

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from gfsvi import Data, Model
from gfsvi.covariances.diagonal import Diagonal
from gfsvi.covariances.kronecker import Kronecker
from gfsvi.functions import BayesianNetwork, GaussianProcess
from gfsvi.inference import calibration as calibrations
from gfsvi.inference import gauss_newton
from gfsvi.inference.calibration import SHARES, HeldOut, MostProbable, with_share
from gfsvi.inference.elbo import Elbo
from gfsvi.inference.evidence import log_evidence
from gfsvi.inference.mean_fit import GaussNewtonMean, MeanProblem, TrainedMean
from gfsvi.kernels import RBF
from gfsvi.kernels import Constant as ConstantKernel
from gfsvi.likelihoods import Normal, WarpedNormal
from gfsvi.methods import GFSVI, GWI, VIP, ExactGP
from gfsvi.methods import gfsvi as module
from gfsvi.methods.fvi import SteinKL
from gfsvi.methods.gwi import Wasserstein
from gfsvi.methods.vip import AlphaEnergy
from gfsvi.networks import MLP
from gfsvi.numerics.constraints import real
from gfsvi.numerics.precision import double
from gfsvi.points import FixedPoints
from gfsvi.predictives.warp import Warp
from gfsvi.training import Adam, Training
from gfsvi.training.loop import maximize

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(6, 1))
DATA = Data(X, RANDOM.normal(size=6))
PROCESS = GaussianProcess(RBF(0.7, 1.5))


class Seven(eqx.Module):
    """A divergence that is known."""

    def __call__(self, model, batch, scale, *, key):
        return jnp.asarray(7.0), {}


def expected_log_density(y, mean, variance, noise) -> float:
    """E log N(y | f, noise^2) with f ~ N(mean, variance), summed over rows."""
    return float(np.sum(norm.logpdf(y, mean, noise) - variance / (2 * noise**2)))


@double
def test_the_bound_counts_every_row_of_the_data_and_subtracts_the_divergence_once(key):
    value, parts = Elbo(Seven())(Model(PROCESS, Normal(0.4)), DATA, 2.5, key=key)
    wanted = 2.5 * expected_log_density(DATA.y, 0.0, 1.5, 0.4)
    assert float(value) == pytest.approx(wanted - 7, rel=1e-9)
    assert float(parts["expected_log_likelihood"]) == pytest.approx(wanted, rel=1e-9)


@pytest.fixture(scope="module")
def stein():
    """Slopes of FVI's divergence at one value f ~ N(0.8, 0.5^2) under the prior N(0, 2^2)."""
    mean, std, prior_variance, scale = 0.8, 0.5, 4.0, 3.0
    network = MLP(())
    params = network.init(X, key=jax.random.key(0), dtype=jnp.float64)
    params = jax.tree.map(lambda leaf: jnp.full_like(leaf, mean), params)
    covariance = Diagonal()
    state = jax.tree.map(
        lambda leaf: jnp.full_like(leaf, np.log(std)),
        covariance.init(params, key=jax.random.key(0)),
    )
    function = BayesianNetwork(network, covariance, params, state, num_samples=4)
    origin = FixedPoints(np.zeros((1, 1)))
    kernel = ConstantKernel(prior_variance)
    divergence = SteinKL(GaussianProcess(kernel), origin, 1e-3, 0.5, 300)

    @jax.jit
    def slopes(key):
        def value(function):
            return divergence(Model(function, Normal()), DATA, scale, key=key)[0]

        found = eqx.filter_grad(value)(function)
        return jax.tree.leaves(found.params), jax.tree.leaves(found.state)

    with jax.enable_x64(True):
        of_mean, of_std = slopes(jax.random.key(1))
    total = [sum(float(jnp.sum(leaf)) for leaf in leaves) for leaves in (of_mean, of_std)]
    return np.array(total) / (0.5 * scale), mean, std, prior_variance


def test_the_slope_of_fvis_divergence_in_the_mean_is_that_of_the_prior(stein):
    (of_mean, _), mean, _, prior_variance = stein
    # d KL / d mean = mean / prior variance; the input is zero, so that the weight has no slope.
    assert of_mean == pytest.approx(mean / prior_variance, abs=0.25)
    assert of_mean > 0


def test_the_slope_of_fvis_divergence_in_the_spread_has_the_entropy_with_its_sign(stein):
    (_, of_std), _, std, prior_variance = stein
    # d KL / d log std = std^2 / prior variance - 1: the entropy wants the posterior wide.
    assert of_std == pytest.approx(std**2 / prior_variance - 1, abs=0.25)


@double
def test_gwi_weighs_the_distance_by_all_rows(key):
    method = GWI(MLP((3,)), num_inducing=3, weight=0.3, num_points=6)
    divergence = method.divergence(PROCESS, DATA)
    assert divergence.weight == pytest.approx(0.3 * 6)
    model = Model(GaussianProcess(RBF(0.7, 0.5)), Normal())
    values = [
        float(Wasserstein(PROCESS, weight, 6, squared)(model, DATA, 1.0, key=key)[0])
        for weight, squared in ((1.0, False), (1.0, True), (4.0, True))
    ]
    # Covariances that commute: the squared distance is that of the roots, per point.
    wanted = (np.sqrt(1.5) - np.sqrt(0.5)) ** 2
    np.testing.assert_allclose(values, [np.sqrt(wanted), wanted, 4 * wanted], rtol=1e-4)


@pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0])
@double
def test_the_energy_of_vip_is_the_log_likelihood_where_the_function_is_known(alpha, key):
    prior = Model(BayesianNetwork.prior(MLP((4,)), X), Normal(0.3))
    model = VIP(num_features=3, training=Training(num_steps=0))(prior, DATA, key=key).posterior
    known = jnp.asarray(model.function.factor) * 0 - 40 * jnp.eye(3)
    function = dataclasses.replace(model.function, factor=known)
    _, parts = AlphaEnergy(alpha)(Model(function, Normal(0.3)), DATA, 2.0, key=key)
    wanted = 2 * np.sum(norm.logpdf(DATA.y, np.asarray(function.at(X).mean)[0], 0.3))
    assert float(parts["energy"]) == pytest.approx(wanted, rel=1e-6)


@double
def test_the_evidence_of_a_warped_target_has_the_slope_of_the_warp():
    y = np.exp(RANDOM.normal(size=6))
    warp = Warp.fitted(y[:, None])
    found = log_evidence(Model(PROCESS, WarpedNormal(0.4, warp)), Data(X, y))
    z = np.asarray(warp.forward(y[None]))[0]
    size = 1e-5
    ahead, behind = (np.asarray(warp.forward((y + step)[None]))[0] for step in (size, -size))
    slopes = (ahead - behind) / (2 * size)
    cov = np.asarray(PROCESS.kernel.gram(X)) + 0.16 * np.eye(6)
    wanted = multivariate_normal(np.zeros(6), cov).logpdf(z) + np.sum(np.log(slopes))
    assert float(found) == pytest.approx(wanted, rel=1e-5)


@pytest.fixture(scope="module")
def lucky():
    """A process that has learned noisy rows, and a few held-out rows without noise."""
    x = RANDOM.uniform(-2, 2, size=(60, 1))
    data = Data(x[5:], np.sin(x[5:, 0]) + 0.3 * RANDOM.normal(size=55))
    prior = Model(GaussianProcess(RBF()), Normal(0.3))
    posterior = ExactGP()(prior, data, key=jax.random.key(0)).posterior
    held_out = Data(x[:5], np.sin(x[:5, 0]))
    arguments = {"key": jax.random.key(0), "prior": prior, "data": data}
    return lambda calibration: calibration(posterior, held_out, **arguments)


def noise_of(model: Model) -> float:
    return float(np.ravel(model.likelihood.noise)[0])


def test_rows_left_out_are_used_where_they_are_asked_for_and_only_there(lucky):
    assert noise_of(lucky(HeldOut())) < 0.2
    assert noise_of(lucky(HeldOut(leave_one_out=True))) == pytest.approx(0.3, rel=0.25)


@pytest.mark.parametrize("noise", [0.05, 3.0])
def test_the_most_probable_share_is_the_best_of_all(noise, key):
    y = RANDOM.standard_t(3, size=40)
    model, rows = (
        Model(GaussianProcess(RBF(variance=0.25)), Normal(noise)),
        Data(np.zeros((40, 1)), y),
    )

    def density(found: Model) -> float:
        return float(np.mean(norm.logpdf(y, 0, np.sqrt(0.25 + noise_of(found) ** 2))))

    found = MostProbable()(model, rows, key=key, prior=model, data=rows)
    others = [with_share(model, rows, share, key=key) for share in SHARES]
    assert density(found) == pytest.approx(max(map(density, others)), rel=1e-5)
    assert min(map(density, others)) < density(found) - 0.01
    assert calibrations.SHARES[-1] == 1.0


@pytest.mark.parametrize(("mean", "is_slow"), [(TrainedMean(), True), (None, False)])
def test_training_moves_a_mean_that_is_fitted_already_more_slowly(mean, is_slow, key, monkeypatch):
    seen = []

    def stop(method, plan, *rest, **options):
        seen.append(method.training.optimizer.slow)
        raise StopIteration

    monkeypatch.setattr(module, "maximize_elbo", stop)
    method = GFSVI(MLP((3,)), covariance=Kronecker(), mean=mean)
    start = method._blank(Model(PROCESS, Normal()), DATA, key, None)
    with pytest.raises(StopIteration):
        method._trained(start, Model(PROCESS, Normal()), DATA, key, None)
    assert (seen[0] is not None) == is_slow
    if is_slow:
        picked = jax.tree.leaves(seen[0](start))
        slow = jax.tree.leaves((start.function.params, start.likelihood))
        assert len(picked) == len(slow) and all(a is b for a, b in zip(picked, slow, strict=True))


class Two(eqx.Module):
    """Two numbers with the same slope."""

    first: jax.Array = real(0.0)
    second: jax.Array = real(0.0)


def test_a_slow_part_moves_at_a_thirtieth_of_the_rate(key):
    def slope(model, batch, scale, *, key):
        return model.first + model.second, {}

    training = Training(num_steps=3, optimizer=Adam(0.01, slow=lambda model: model.second))
    found, _ = maximize(slope, Two(), DATA, training, key=key)
    assert float(found.second) == pytest.approx(float(found.first) / 30, rel=1e-6)
    assert float(found.first) > 0


def test_gauss_newton_begins_under_a_weak_prior(key, monkeypatch):
    gammas = []

    def remember(start, prior, data, x, *, gamma, num_steps):
        gammas.append(float(gamma))
        return start

    monkeypatch.setattr(gauss_newton, "fit_mean", remember)
    problem = MeanProblem(PROCESS, FixedPoints(X), 1e-9, DATA)
    GaussNewtonMean(num_rounds=4)(None, problem, key=key, validation=None)
    np.testing.assert_allclose(gammas, [1e-3, 1e-5, 1e-7, 1e-9], rtol=1e-9)
