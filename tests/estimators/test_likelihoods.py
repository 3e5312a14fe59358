"""Every likelihood that builds with no arguments can be named, and any other can be given."""

import inspect

import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import BayesianRegressor, GFSVIClassifier, GFSVIRegressor, registry
from gfsvi.auto.solving import Solver
from gfsvi.kernels import RBF
from gfsvi.likelihoods import (
    AdaptiveNormal,
    Bernoulli,
    Categorical,
    CustomLikelihood,
    Normal,
    StudentT,
    WarpedNormal,
)

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(60, 2))
NUMBERS = 1000.0 + 50.0 * (np.sin(X[:, 0]) + 0.2 * RANDOM.normal(size=60))
COUNTS = RANDOM.poisson(np.exp(0.5 + np.sin(X[:, 0])))
LABELS = np.where(X[:, 0] + 0.3 * RANDOM.normal(size=60) > 0, "up", "down")
NEW = RANDOM.normal(size=(9, 2))
TARGETS = {
    "adaptive_normal": NUMBERS,
    "bernoulli": LABELS,
    "categorical": LABELS,
    "heteroscedastic_normal": NUMBERS,
    "negative_binomial": COUNTS,
    "normal": NUMBERS,
    "poisson": COUNTS,
    "student_t": NUMBERS,
    "warped_normal": NUMBERS,
}
OF_NUMBERS = [name for name, y in TARGETS.items() if y is not LABELS]


def test_every_likelihood_with_defaults_is_tested_here():
    kinds = {name: registry.find("likelihoods", name) for name in registry.names("likelihoods")}
    parameters = {name: inspect.signature(kind).parameters for name, kind in kinds.items()}
    buildable = {
        name
        for name, known in parameters.items()
        if all(one.default is not inspect.Parameter.empty for one in known.values())
    }
    assert buildable == set(TARGETS)


@pytest.fixture(scope="module")
def fitted(tiny):
    """A tiny fit under the likelihood of this name; each is made once."""
    made = {}

    def fitted(name):
        if name not in made:
            kind = GFSVIClassifier if TARGETS[name] is LABELS else GFSVIRegressor
            made[name] = kind(**tiny, likelihood=name).fit(X, TARGETS[name])
        return made[name]

    return fitted


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_are_predicted_under_every_likelihood(fitted, name):
    regressor = fitted(name)
    assert isinstance(regressor.posterior_.likelihood, registry.find("likelihoods", name))
    mean, std = regressor.predict(NEW, return_std=True)
    assert mean.shape == std.shape == (9,)
    assert np.all(np.isfinite(mean)) and np.all(np.isfinite(std)) and np.all(std > 0)
    assert np.corrcoef(regressor.predict(X), TARGETS[name])[0, 1] > 0.5
    lower, upper = regressor.predict_distribution(NEW).interval(0.9)
    assert np.all(lower <= mean) and np.all(mean <= upper)
    novelty = regressor.novelty(NEW)
    assert np.all((novelty >= 0) & (novelty <= 1))


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_observations_have_a_covariance_under_every_likelihood(fitted, name):
    _, std = fitted(name).predict(NEW, return_std=True)
    _, cov = fitted(name).predict(NEW, return_cov=True)
    np.testing.assert_allclose(np.diag(cov), std**2, rtol=1e-6)
    assert np.linalg.eigvalsh(cov)[0] > -1e-6 * np.trace(cov)
    draws = fitted(name).sample_y(NEW, 2000)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.25)


@pytest.mark.parametrize("name", ["bernoulli", "categorical"])
def test_labels_are_predicted_under_every_likelihood(fitted, name):
    classifier = fitted(name)
    assert isinstance(classifier.posterior_.likelihood, registry.find("likelihoods", name))
    probabilities = classifier.predict_proba(NEW)
    assert probabilities.shape == (9, 2) and np.all(np.isfinite(probabilities))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-6)
    assert classifier.score(X, LABELS) > 0.8


def test_counts_are_never_negative_and_not_standardised(fitted):
    regressor = fitted("poisson")
    target = regressor.fitted_.target
    assert target.centre == 0 and target.spread == 1
    predictive = regressor.predict_distribution(np.concatenate([X, 5 * NEW]))
    assert np.all(predictive.mean >= 0) and np.all(predictive.interval(0.99)[0] >= 0)
    np.testing.assert_array_equal(predictive.quantile(0.5), np.round(predictive.quantile(0.5)))


def laplace_density(y, f):
    """The density of y that falls off evenly on both sides of f."""
    return -jnp.abs(y - f[0]) / 0.2 - jnp.log(0.4)


def test_a_likelihood_of_ones_own_is_fitted_under_the_kernel_given(tiny):
    y, kernel = (NUMBERS - 1000.0) / 50.0, RBF(1.3)
    own = CustomLikelihood(laplace_density)
    regressor = GFSVIRegressor(**tiny | {"kernel": kernel}, likelihood=own).fit(X, y)
    assert regressor.prior_.function.kernel == kernel
    mean, std = regressor.predict(NEW, return_std=True)
    assert np.all(np.isfinite(mean)) and np.all(std > 0)
    assert np.corrcoef(regressor.predict(X), y)[0, 1] > 0.5
    novelty = regressor.novelty(np.concatenate([X, 30 * NEW]))
    assert np.all((novelty >= 0) & (novelty <= 1))


def test_without_a_kernel_ones_own_likelihood_has_a_plain_one(tiny):
    automatic = tiny | {"kernel": "auto", "num_steps": 1}
    regressor = GFSVIRegressor(**automatic, likelihood=CustomLikelihood(laplace_density))
    kernel = regressor.fit(X, (NUMBERS - 1000.0) / 50.0).prior_.function.kernel
    assert type(kernel).__name__ == "Matern52"


class Seen(Exception):
    pass


@pytest.fixture
def problem_of(monkeypatch):
    """What an estimator would learn from."""

    def problem_of(estimator, y):
        found = []

        def solve(self, problem):
            found.append(problem)
            raise Seen

        monkeypatch.setattr(Solver, "solve", solve)
        with pytest.raises(Seen):
            estimator.fit(X, y)
        return found[0]

    return problem_of


def test_a_likelihood_that_is_given_keeps_its_settings(problem_of):
    heavy = StudentT(0.2, degrees_of_freedom=2.5)
    problem = problem_of(GFSVIRegressor(likelihood=heavy), NUMBERS)
    assert problem.likelihood is heavy
    assert np.std(problem.rows.y) == pytest.approx(1.0)


def test_classes_are_counted_for_a_likelihood_that_does_not_say(problem_of):
    labels = np.where(NUMBERS > 1040, "high", LABELS)
    classifier = GFSVIClassifier(likelihood=Categorical(num_samples=8))
    likelihood = problem_of(classifier, labels).likelihood
    assert (likelihood.num_classes, likelihood.num_samples) == (3, 8)


@pytest.mark.parametrize(("y", "is_warped"), [(NUMBERS, True), (np.round(NUMBERS, -2), False)])
def test_a_warp_is_used_where_no_value_is_frequent(problem_of, y, is_warped):
    likelihood = problem_of(GFSVIRegressor(), y).likelihood
    assert isinstance(likelihood, AdaptiveNormal)
    assert (likelihood.warp.learned is not None) == is_warped
    trained = problem_of(BayesianRegressor("gfsvi_trained"), y).likelihood
    assert isinstance(trained, WarpedNormal if is_warped else Normal)


@pytest.mark.parametrize(
    ("estimator", "y", "about"),
    [
        (GFSVIRegressor(likelihood="bernoulli"), COUNTS > 2, "regression expects .* got Bernoulli"),
        (GFSVIRegressor(likelihood=Categorical()), COUNTS, "regression expects .* numbers; got C"),
        (GFSVIClassifier(likelihood="normal"), LABELS, "classification expects .* labels; got N"),
        (GFSVIClassifier(likelihood=Normal()), LABELS, "classification expects .* got Normal"),
        (GFSVIClassifier(likelihood=Bernoulli()), COUNTS % 3, "Bernoulli expects labels 0 and 1"),
        (GFSVIRegressor(likelihood="poisson"), NUMBERS, "Poisson expects counts"),
        (GFSVIRegressor(likelihood="poison"), COUNTS, "Did you mean 'poisson'"),
        (GFSVIRegressor(likelihood="custom_likelihood"), NUMBERS, "Build it in Python"),
    ],
)
def test_a_likelihood_that_does_not_go_with_the_target_is_refused(estimator, y, about):
    with pytest.raises(ValueError, match=about):
        estimator.fit(X, y)
