import numpy as np
import pytest

from gfsvi.inference.quick_steps import Descent, adam, lbfgs
from gfsvi.plain.networks import TanhNetwork, random_network
from gfsvi.training.settings import Training

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(40, 1))
Y = np.sin(3 * X)
START = random_network(X, (20, 1), np.array([0.5]), RANDOM)


def fit_of(x, y):
    def objective(network):
        activations = network.activations(x)
        residual = y - activations[-1]
        return -0.5 * float(np.sum(residual**2)), network.gradient(activations, residual)

    return objective


def batch(step):
    rows = np.random.default_rng(step).permutation(40)[:10]
    return fit_of(X[rows].astype(np.float32), Y[rows])


DESCENT = Descent(batch, num_steps=400, learning_rate=3e-2)


def error(network):
    return float(np.mean((network.activations(X)[-1] - Y) ** 2))


class Kept:
    """A checkpoint in memory."""

    content = None

    def load(self):
        return self.content

    def save(self, content, *, finished):
        self.content = content


def test_lbfgs_descends_and_says_how():
    found, history = lbfgs(START, fit_of(X, Y), Training(num_steps=50))
    assert error(found) < 1e-4 < error(START)
    assert len(history.steps["objective"]) == 50
    assert np.all(np.diff(history.steps["objective"]) >= 0)


def test_batches_descend_too():
    found, history = adam(START, DESCENT, Training(evaluate_every=50), None)
    assert error(found) < 1e-2 < error(START)
    assert len(history.steps["objective"]) == 400 and len(history.scores) == 0


def test_the_weights_with_the_best_score_count():
    best = []

    def score(network):
        best.append(network.matrices[0].astype(np.float64))
        return -abs(len(best) - 3)

    found, history = adam(START, DESCENT, Training(evaluate_every=50), score)
    assert history.best_step == 150 and len(history.scores) == 8
    np.testing.assert_array_equal(found.matrices[0], best[2])


def test_what_is_scored_is_the_average_of_the_latest_weights():
    weights, scored = [], []

    def pulled_to_and_fro(step):
        def objective(network):
            weights.append(float(network.matrices[0][0, 0]))
            slope = 2.0 - weights[-1] + (3.0 if step % 2 else -3.0)
            return 0.0, [np.full((1, 1), slope, np.float32)]

        return objective

    def score(network):
        scored.append(float(network.matrices[0][0, 0]))
        return 0.0

    steps = Descent(pulled_to_and_fro, num_steps=2000, learning_rate=0.2)
    adam(TanhNetwork((np.zeros((1, 1)),)), steps, Training(evaluate_every=500), score)
    average = 0.0
    for number, weight in enumerate(weights[1:501], start=1):
        kept = min(0.99, number / (number + 9))
        average = kept * average + (1 - kept) * weight
    np.testing.assert_allclose(scored[0], average, rtol=1e-6)
    farthest = min(abs(weight - 2.0) for weight in weights[400:500])
    assert abs(scored[0] - 2.0) < 0.1 * farthest


@pytest.mark.parametrize("stop_at", [50, 350])
def test_killed_and_resumed_batches_end_at_the_same_weights(stop_at):
    kept, whole = Kept(), adam(START, DESCENT, Training(evaluate_every=50), error)

    def stop(progress):
        if progress.step == stop_at:
            raise KeyboardInterrupt

    training = Training(evaluate_every=50, watch=stop, checkpoint=lambda: kept)
    with pytest.raises(KeyboardInterrupt):
        adam(START, DESCENT, training, error)
    resumed = adam(START, DESCENT, Training(evaluate_every=50, checkpoint=lambda: kept), error)
    for one, other in zip(resumed[0].matrices, whole[0].matrices, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(resumed[1].scores, whole[1].scores)


@pytest.mark.parametrize("steps", [lbfgs, adam])
def test_a_watch_can_stop_the_descent(steps):
    training = Training(num_steps=100, evaluate_every=10, watch=lambda progress: True)
    given = (START, fit_of(X, Y), training) if steps is lbfgs else (START, DESCENT, training, None)
    assert len(steps(*given)[1].steps["objective"]) == 10


def test_finished_work_is_not_done_again():
    kept = Kept()
    training = Training(num_steps=5, checkpoint=lambda: kept)
    found, _ = lbfgs(START, fit_of(X, Y), training)

    def never(network: TanhNetwork):
        raise AssertionError

    again, _ = lbfgs(START, never, training)
    np.testing.assert_array_equal(again.matrices[0], found.matrices[0])


def test_the_learning_rate_rises_and_falls():
    rates = [DESCENT.rate(step) for step in range(400)]
    assert rates[0] < rates[20] < rates[39] and max(rates) <= 3e-2 and rates[-1] < 1e-5
