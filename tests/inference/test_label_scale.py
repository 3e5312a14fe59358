import jax
import numpy as np
import pytest

from gfsvi import Data, Model
from gfsvi.covariances import ClosedForm
from gfsvi.functions import GaussianProcess
from gfsvi.inference import label_scale
from gfsvi.inference.label_scale import scaled_for_labels
from gfsvi.kernels import RBF, White
from gfsvi.likelihoods import Bernoulli, Categorical, Normal
from gfsvi.methods import GFSVI
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double

RANDOM = np.random.default_rng(0)
KEY = jax.random.key(0)
X = RANDOM.normal(size=(60, 2))
Y = (X[:, 0] + 0.3 * RANDOM.normal(size=60) > 0).astype(int)


@double
def test_rows_are_left_out_of_the_regression_that_stands_for_the_labels():
    gram = np.asarray(RBF(1.0, 4.0).gram(X))
    mean = np.full((2, 60), 0.3)
    found, targets = label_scale._left_out(gram, Categorical(2), Data(X, Y), mean, None)
    for row in (0, 17):
        rest = np.delete(np.arange(60), row)
        for output in range(2):
            cov = gram[np.ix_(rest, rest)] + np.diag(targets.variance[output, rest])
            gain = np.linalg.solve(cov, gram[rest, row])
            expected = 0.3 + gain @ (targets.values[output, rest] - 0.3)
            assert found[0][output, row] == pytest.approx(expected, rel=1e-6)
            left = gram[row, row] - gain @ gram[rest, row]
            assert found[1][output, row] == pytest.approx(left, rel=1e-6)


def test_probabilities_of_labels_are_those_of_both_likelihoods():
    f = RANDOM.normal(size=(2, 5))
    y, draws = np.array([0, 1, 1, 0, 1]), np.zeros((3, 2, 5))
    found = label_scale._log_probabilities((f, np.ones((2, 5))), draws, y)
    np.testing.assert_allclose(found, Categorical(2).log_prob(y, f), rtol=1e-5)
    one = f[1:] - f[:1]
    found = label_scale._log_probabilities((one, np.ones((1, 5))), draws[:, :1], y)
    np.testing.assert_allclose(found, Bernoulli().log_prob(y, one), rtol=1e-5)


@pytest.mark.parametrize(("likelihood", "outputs"), [(Categorical(2), 2), (Bernoulli(), 1)])
def test_labels_decide_on_the_variance_of_the_prior(likelihood, outputs):
    clear = (X[:, 0] > 0).astype(int)
    narrow = Model(GaussianProcess(RBF(1.5, 0.2), outputs=outputs), likelihood)
    scaled = scaled_for_labels(narrow, Data(X, clear), key=KEY)
    assert float(scaled.function.kernel.variance) == pytest.approx(2.0)
    chance = RANDOM.integers(2, size=60)
    wide = Model(GaussianProcess(RBF(0.5, 50.0), outputs=outputs), likelihood)
    scaled = scaled_for_labels(wide, Data(X, chance), key=KEY)
    assert float(scaled.function.kernel.variance) < 50


def test_other_priors_stay_as_they_are():
    for kernel, likelihood, y in (
        (RBF(), Normal(), X[:, 0]),
        (RBF() + White(), Categorical(2), Y),
    ):
        prior = Model(GaussianProcess(kernel, outputs=likelihood.num_outputs(y)), likelihood)
        assert scaled_for_labels(prior, Data(X, y), key=KEY) is prior


def test_rounds_do_not_diverge_under_a_wide_prior():
    prior = Model(GaussianProcess(RBF(0.7, 300.0), outputs=2), Categorical(2))
    posterior = GFSVI(MLP((20,), 2))(prior, Data(X, Y), key=KEY).posterior
    fresh = RANDOM.normal(size=(200, 2))
    labels = (fresh[:, 0] > 0).astype(int)
    assert np.mean(posterior.predict(fresh).log_prob(labels)) > -0.4


def test_rows_that_are_no_measurement_points_are_not_fitted_too_well():
    x = RANDOM.normal(size=(400, 4))
    y, fresh = RANDOM.integers(2, size=400), RANDOM.normal(size=(400, 4))
    prior = Model(GaussianProcess(RBF(2.0, 1.0), outputs=2), Categorical(2))
    method = GFSVI(MLP((50, 50), 2), covariance=ClosedForm(max_rows=40))
    posterior = method(prior, Data(x, y), key=KEY).posterior
    labels = RANDOM.integers(2, size=400)
    assert np.mean(posterior.predict(fresh).log_prob(labels)) > -0.85


def test_without_time_the_variance_stays_as_it_is():
    clear = Data(X, (X[:, 0] > 0).astype(int))
    narrow = Model(GaussianProcess(RBF(1.5, 0.2), outputs=2), Categorical(2))
    asked = []

    def after_three() -> bool:
        asked.append(True)
        return len(asked) > 3

    assert scaled_for_labels(narrow, clear, key=KEY, stop=after_three) is narrow
    assert len(asked) == 4  # between the rounds of the first factor already
    scaled = scaled_for_labels(narrow, clear, key=KEY, stop=lambda: False)
    assert float(scaled.function.kernel.variance) != pytest.approx(0.2)
