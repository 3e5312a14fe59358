"""A fit in BoTorch, beside the library's own formulas; `make test-peers` installs it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("botorch")

from botorch.acquisition import (  # noqa: E402
    LogExpectedImprovement,
    UpperConfidenceBound,
    qKnowledgeGradient,
    qLogExpectedImprovement,
    qLogNoisyExpectedImprovement,
)
from botorch.generation import MaxPosteriorSampling  # noqa: E402
from botorch.models.model import ModelList  # noqa: E402
from botorch.optim import optimize_acqf  # noqa: E402
from botorch.sampling import SobolQMCNormalSampler  # noqa: E402

from gfsvi import GFSVIClassifier, GFSVIRegressor  # noqa: E402
from gfsvi.acquisition.botorch import BotorchModel  # noqa: E402
from gfsvi.acquisition.improvement import log_expected_improvement  # noqa: E402
from gfsvi.acquisition.surrogate import Surrogate  # noqa: E402

# BoTorch warns that data are not standardised, and GPyTorch of its own jitter.
pytestmark = pytest.mark.filterwarnings("ignore")

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(25, 2))
TOP = np.array([0.3, -0.2])
Y = 5 - np.sum((X - TOP) ** 2, axis=1) + 0.02 * RANDOM.normal(size=25)
OTHERS = RANDOM.uniform(-1.5, 1.5, size=(6, 2))
BOUNDS = torch.tensor([[-1.0, -1.0], [1.0, 1.0]], dtype=torch.float64)
KERNELS = {"normal": "matern52", "auto": "matern32"}  # rough enough for little rounding


@pytest.fixture(scope="module", params=KERNELS)
def fit(request):
    model = GFSVIRegressor(
        hidden=(20, 10), kernel=KERNELS[request.param], likelihood=request.param, random_state=0
    )
    return model.fit(X, Y)


@pytest.fixture(scope="module")
def normal():
    model = GFSVIRegressor(hidden=(20,), kernel="matern32", likelihood="normal", random_state=0)
    return model.fit(X, Y)


def test_means_and_covariances_are_those_of_the_fit(normal):
    mean, cov = Surrogate(normal.fitted_).joint(OTHERS)
    x = torch.tensor(OTHERS)
    posterior = BotorchModel(normal).posterior(x)
    np.testing.assert_allclose(posterior.mean[:, 0], mean, rtol=1e-8)
    found = posterior.distribution.covariance_matrix
    np.testing.assert_allclose(found, cov, rtol=1e-5, atol=1e-8 * cov.max())
    noisy = BotorchModel(normal).posterior(x, observation_noise=True).variance[:, 0]
    np.testing.assert_allclose(noisy, np.diagonal(normal.fitted_.covariance(OTHERS)), rtol=1e-5)
    given = torch.full((1, 1), 0.5, dtype=torch.float64)
    noisy = BotorchModel(normal).posterior(x, observation_noise=given).variance[:, 0]
    np.testing.assert_allclose(noisy, np.diagonal(cov) + 0.5, rtol=1e-5)


def test_a_batch_of_joint_distributions_is_each_of_them(fit):
    model, x = BotorchModel(fit), torch.tensor(OTHERS)
    together = model.posterior(x.reshape(3, 2, 2))
    for number in range(3):
        alone = model.posterior(x.reshape(3, 2, 2)[number])
        torch.testing.assert_close(together.mean[number], alone.mean)
        torch.testing.assert_close(together.variance[number], alone.variance)


def test_moments_of_a_warped_target_are_those_of_its_samples(fit):
    model = BotorchModel(fit)
    posterior = model.posterior(torch.tensor(OTHERS))
    samples = SobolQMCNormalSampler(torch.Size([4096]), seed=0)(posterior)[..., 0]
    torch.testing.assert_close(samples.mean(0), posterior.mean[:, 0], atol=0.01, rtol=0.01)
    torch.testing.assert_close(samples.var(0), posterior.variance[:, 0], atol=1e-3, rtol=0.05)


def test_gradients_go_through_the_network(fit):
    model, x = BotorchModel(fit), torch.tensor(OTHERS, requires_grad=True)
    sampler = SobolQMCNormalSampler(torch.Size([8]), seed=1)

    def score(rows):
        return sampler(model.posterior(rows)).square().mean()

    (found,) = torch.autograd.grad(score(x), x)
    expected = np.zeros_like(OTHERS)
    for place in np.ndindex(OTHERS.shape):
        step = np.zeros_like(OTHERS)
        step[place] = 1e-5
        ends = [score(torch.tensor(OTHERS + sign * step)).item() for sign in (1, -1)]
        expected[place] = (ends[0] - ends[1]) / 2e-5
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_expected_improvement_is_the_librarys(normal):
    x = torch.tensor(OTHERS)[:, None, :]
    found = LogExpectedImprovement(BotorchModel(normal), best_f=4.9)(x)
    expected = log_expected_improvement(*Surrogate(normal.fitted_).marginals(OTHERS), 4.9)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_conditioning_is_that_of_a_gaussian_process(normal):
    new, values = OTHERS[:2], np.array([4.0, 3.5])
    surrogate = Surrogate(normal.fitted_)
    mean, cov = surrogate.joint(OTHERS)
    gain = cov[2:, :2] @ np.linalg.inv(cov[:2, :2] + np.diag(surrogate.noise(new)))
    model = BotorchModel(normal)
    after = model.condition_on_observations(torch.tensor(new), torch.tensor(values)[:, None])
    posterior = after.posterior(torch.tensor(OTHERS[2:]))
    np.testing.assert_allclose(
        posterior.mean[:, 0], mean[2:] + gain @ (values - mean[:2]), rtol=1e-6
    )
    expected = cov[2:, 2:] - gain @ cov[:2, 2:]
    found = posterior.distribution.covariance_matrix
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7 * cov.max())
    assert model.batch_shape == torch.Size() and model.posterior(torch.tensor(new)).mean.shape


def test_observations_one_by_one_are_all_at_once(fit):
    rows, values = torch.tensor(OTHERS[:3]), torch.tensor([[4.0], [3.9], [3.8]]).double()
    model, later = BotorchModel(fit), torch.tensor(OTHERS[3:])
    at_once = model.condition_on_observations(rows, values).posterior(later)
    for row, value in zip(rows[:, None], values[:, None], strict=True):
        model = model.condition_on_observations(row, value)
    torch.testing.assert_close(model.posterior(later).mean, at_once.mean)
    torch.testing.assert_close(model.posterior(later).variance, at_once.variance)


def test_fantasies_are_observations(fit):
    model, rows = BotorchModel(fit), torch.tensor(OTHERS[:4]).reshape(2, 2, 2)
    fantasies = model.fantasize(rows, SobolQMCNormalSampler(torch.Size([5]), seed=0))
    assert fantasies.batch_shape == torch.Size([5, 2])
    posterior = fantasies.posterior(torch.tensor(OTHERS[4:]))
    assert posterior.mean.shape == (5, 2, 2, 1)
    # On average over fantasies the mean stays what it was.
    many = model.fantasize(rows[0], SobolQMCNormalSampler(torch.Size([512]), seed=0))
    before = model.posterior(torch.tensor(OTHERS[4:])).mean
    torch.testing.assert_close(
        many.posterior(torch.tensor(OTHERS[4:])).mean.mean(0), before, rtol=0.01, atol=0.01
    )


ACQUISITIONS = {
    "qLogEI": lambda model: qLogExpectedImprovement(model, best_f=4.9),
    "qLogNEI": lambda model: qLogNoisyExpectedImprovement(
        model, X_baseline=torch.tensor(X), prune_baseline=True
    ),
    "UCB": lambda model: UpperConfidenceBound(model, beta=4.0),
}


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_acquisition_functions_are_optimised_by_their_gradients(fit, name):
    q = 1 if name == "UCB" else 2
    found, value = optimize_acqf(
        ACQUISITIONS[name](BotorchModel(fit)), BOUNDS, q=q, num_restarts=2, raw_samples=32
    )
    assert found.shape == (q, 2) and torch.isfinite(value)
    assert np.linalg.norm(found.numpy() - TOP, axis=1).min() < 0.2


def test_knowledge_gradient_and_thompson_sampling_work(fit):
    model = BotorchModel(fit)
    gradient = qKnowledgeGradient(model, num_fantasies=4)
    found, value = optimize_acqf(
        gradient, BOUNDS, q=1, num_restarts=2, raw_samples=16, options={"maxiter": 5}
    )
    assert found.shape == (1, 2) and torch.isfinite(value)
    pool = torch.rand(200, 2, dtype=torch.float64) * 2 - 1
    drawn = MaxPosteriorSampling(model, replacement=False)(pool, num_samples=3)
    assert drawn.shape == (3, 2)
    assert np.linalg.norm(drawn.numpy() - TOP, axis=1).max() < 0.6


def test_several_targets_are_a_list_of_models(fit):
    both = ModelList(BotorchModel(fit), BotorchModel(fit))
    assert both.posterior(torch.tensor(OTHERS)).mean.shape == (6, 2)


def test_what_has_no_portable_form_is_refused():
    labels = GFSVIClassifier(hidden=(5,), num_steps=5, random_state=0).fit(X, Y > 4.5)
    with pytest.raises(ValueError, match="single network with tanh.*got a model of labels"):
        BotorchModel(labels)
    several = GFSVIRegressor(hidden=(5,), num_steps=5, random_state=0).fit(X, np.stack([Y, Y], 1))
    with pytest.raises(ValueError, match="one column of numbers; got several"):
        BotorchModel(several)
