"""Fits that build on trees, other regressors or several networks."""

# pyright: reportAttributeAccessIssue=false, reportOptionalMemberAccess=false
# pyright: reportArgumentType=false, reportCallIssue=false

import dataclasses
import json
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from gfsvi.auto import Fitted, Learner, Parameters
from gfsvi.auto.composition import composition
from gfsvi.cli.commands import parser
from gfsvi.cli.fit import concluded
from gfsvi.cli.progress import Reporter
from gfsvi.functions.beside import Beside
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.mixed import Mixed
from gfsvi.functions.shifted import Shifted
from gfsvi.report import gather
from gfsvi.report.card import card
from gfsvi.report.case import prepared_table
from gfsvi.serving import read_predictor
from gfsvi.storage.model_file import ModelFileError

pytestmark = pytest.mark.trees
RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(-1, 1, size=(160, 4)), RNG.uniform(-1, 1, size=(200, 4))


def _jumps(x):
    return np.where(x[:, 0] > 0.1, 1.0, -1.0) + np.where(x[:, 1] > -0.2, 0.5, 0.0)


Y, TRUTH = _jumps(X) + 0.02 * RNG.normal(size=160), _jumps(NEW)
LABELS = (Y > 1.2).astype(int)
COMMAND = """
import json, sys
from gfsvi.cli import main
status = main(["predict", "model.gfsvi", "table.csv", "--output", "predictions.csv"])
print(json.dumps([status, sorted({"jax", "equinox", "sklearn"} & set(sys.modules))]))
"""
SMALL = {"hidden": (10,), "num_steps": 30, "random_state": 0}


def fitted(y=Y, task="regression", **changes):
    return Learner(task, Parameters(**SMALL | changes)).learn(X, y)


@pytest.fixture(scope="module")
def with_trees():
    return fitted()


@pytest.fixture(scope="module")
def alone():
    return fitted(prior_mean=None)


@pytest.fixture(scope="module")
def labels():
    return fitted(LABELS, "classification")


def _error(fit):
    return float(np.mean((np.asarray(fit.predict(NEW).mean) - TRUTH) ** 2))


def test_jumps_are_learned_from_trees(with_trees, alone):
    assert isinstance(alone.posterior.function, ConjugateNetwork)
    assert isinstance(with_trees.posterior.function, Mixed | Shifted)
    assert _error(with_trees) < 0.7 * _error(alone)
    density = [np.mean(fit.predict(NEW).log_prob(TRUTH)) for fit in (with_trees, alone)]
    assert density[0] > density[1]


def test_a_smooth_function_is_left_to_the_network():
    smooth = fitted(np.sin(2 * X[:, 0]) + X[:, 1], num_steps=100)
    weights = getattr(smooth.posterior.function, "weights", [1.0])
    assert weights[0] >= 0.5


def test_a_fit_says_how_much_of_it_builds_on_trees(with_trees, alone):
    share = composition(with_trees.posterior.function).share
    said = "a network" if share == 1 else f"{100 * share:.0f} % of the weight"
    assert said in repr(with_trees) and "builds on trees" in card(with_trees, "jumps")
    frame = pd.DataFrame(X, columns=with_trees.feature_names).assign(y=Y)
    table = prepared_table(with_trees, frame, ("y",))
    assert gather(with_trees, table, targets=("y",)).composition.share == share
    assert "trees" not in repr(alone) + card(alone, "jumps")


def test_the_command_line_says_that_a_fit_builds_on_trees(with_trees, alone, tmp_path, capsys):
    words = ["fit", "table.csv", "--target", "y", "--output", str(tmp_path / "model.gfsvi")]
    arguments = parser().parse_args(words)
    with Reporter(quiet=False) as reporter:
        for fit in (with_trees, alone):
            concluded(lambda fit=fit: fit, Parameters(), arguments, reporter)
    said = capsys.readouterr().err
    assert said.count("builds on trees") == 1 and "`--prior-mean none`" in said


def test_rows_of_the_fit_are_judged_without_what_they_taught(with_trees):
    left_out = with_trees.left_out(X, Y)
    seen = np.mean((np.asarray(with_trees.predict(X).mean) - Y) ** 2)
    unseen = np.mean((np.asarray(left_out.mean) - Y) ** 2)
    assert unseen > 1.3 * seen
    assert np.mean((left_out.quantile(0.025) <= Y) & (left_out.quantile(0.975) >= Y)) >= 0.85
    some = with_trees.left_out(X[[7, 3]], Y[[7, 3]])
    np.testing.assert_allclose(some.mean, np.asarray(left_out.mean)[[7, 3]])
    assert with_trees.left_out(NEW, TRUTH) is None


def test_a_file_predicts_the_same_with_and_without_jax(with_trees, tmp_path):
    path = tmp_path / "model.gfsvi"
    with_trees.save(path)
    read = Fitted.load(path)
    np.testing.assert_allclose(read.predict(NEW).mean, with_trees.predict(NEW).mean, atol=1e-12)
    np.testing.assert_allclose(read.left_out(X, Y).mean, with_trees.left_out(X, Y).mean)
    traced = with_trees.target.on_user_scale(
        with_trees.posterior.traced_prediction(with_trees.standardized(NEW))
    )
    np.testing.assert_allclose(traced.mean, with_trees.predict(NEW).mean, atol=1e-6)
    np.testing.assert_allclose(traced.std, with_trees.predict(NEW).std, rtol=1e-5)


def test_a_damaged_tree_is_refused(with_trees, tmp_path):
    function = with_trees.posterior.function
    shifted = function if isinstance(function, Shifted) else function.members[1]
    bad = dataclasses.replace(shifted.mean, feature=np.full_like(shifted.mean.feature, 9))
    model = dataclasses.replace(
        with_trees.posterior, function=dataclasses.replace(shifted, mean=bad)
    )
    path = tmp_path / "model.gfsvi"
    dataclasses.replace(with_trees, posterior=model).save(path)
    with pytest.raises(ModelFileError, match="do not fit together"):
        Fitted.load(path)


def test_new_rows_one_by_one_are_as_good_as_all_at_once(with_trees):
    once = with_trees.condition_on(NEW[:10], TRUTH[:10])
    one_by_one = with_trees
    for row in range(10):
        one_by_one = one_by_one.condition_on(NEW[row : row + 1], TRUTH[row : row + 1])
    np.testing.assert_allclose(one_by_one.predict(NEW).mean, once.predict(NEW).mean, atol=1e-8)
    back = once.forget(NEW[:10], TRUTH[:10])
    np.testing.assert_allclose(back.predict(NEW).mean, with_trees.predict(NEW).mean, atol=1e-6)
    with pytest.raises(ValueError, match="prior_mean=None"):
        with_trees.forget(X[:3], Y[:3])


def test_draws_have_the_mean_of_predictions(with_trees):
    import jax

    draws = with_trees.draws(NEW[:5], 600, key=jax.random.key(0))
    predictive = with_trees.predict(NEW[:5])
    error = 5 * np.asarray(predictive.std) / np.sqrt(600)
    assert np.all(np.abs(draws.mean(axis=0) - predictive.mean) < error)


def test_any_regressor_is_the_mean_of_the_prior(tmp_path):
    line = 3 * X[:, 0] - X[:, 1] + 0.1 * RNG.normal(size=160)
    fit = fitted(line, prior_mean=LinearRegression())
    far = np.array([[40.0, 0.0, 0.0, 0.0]])
    assert float(fit.predict(far).mean[0]) == pytest.approx(120, rel=0.05)
    with pytest.raises(ModelFileError, match="RegressorMean"):
        fit.save(tmp_path / "model.gfsvi")
    assert not list(tmp_path.iterdir())


def test_labels_see_the_scores_of_trees_where_they_help():
    x, new = RNG.uniform(-1, 1, size=(300, 10)), RNG.uniform(-1, 1, size=(300, 10))
    options = SMALL | {"num_steps": 60}
    with_trees, without = (
        Learner("classification", Parameters(**options, prior_mean=mean)).learn(x, _jumps(x) > 1.2)
        for mean in ("auto", None)
    )
    truth = (_jumps(new) > 1.2).astype(int)
    density = [np.mean(fit.predict(new).log_prob(truth)) for fit in (with_trees, without)]
    assert density[0] > density[1]


def test_labels_are_saved_with_their_trees(labels, tmp_path):
    parts = getattr(labels.posterior.function, "members", (labels.posterior.function,))
    assert any(isinstance(part, Beside) for part in parts)
    labels.save(tmp_path / "model.gfsvi")
    read = Fitted.load(tmp_path / "model.gfsvi")
    expected = labels.predict(NEW).probabilities
    np.testing.assert_allclose(read.predict(NEW).probabilities, expected, atol=1e-12)
    assert labels.left_out(X, LABELS) is not None


def test_labels_learn_new_rows(labels):
    wrong = 0.01 * RNG.normal(size=(30, 4)) + [[0.6, 0.6, 0.0, 0.0]]
    before = labels.predict(wrong).probabilities[:, 1].mean()
    after = labels.condition_on(wrong, np.zeros(30, int)).predict(wrong).probabilities[:, 1].mean()
    assert after < before


@pytest.fixture(scope="module")
def several():
    return fitted(prior_mean=None, members=3)


@pytest.mark.parametrize("which", ["with_trees", "several"])
def test_intervals_densities_and_parts_of_a_mixture_are_those_of_one_distribution(which, request):
    predictive = request.getfixturevalue(which).predict(NEW[:4])
    low, high = predictive.interval(0.9)
    np.testing.assert_allclose(low, predictive.quantile(0.05))
    np.testing.assert_allclose(high, predictive.quantile(0.95))
    steps = np.linspace(0, 1, 801)
    density = np.exp([predictive.log_prob(low + step * (high - low)) for step in steps])
    inside = np.trapezoid(density, steps, axis=0) * (high - low)
    np.testing.assert_allclose(inside, 0.9, atol=2e-3)
    parts = predictive.epistemic_std**2 + predictive.aleatoric_std**2
    np.testing.assert_allclose(parts, predictive.std**2, rtol=1e-5)
    assert np.all(predictive.epistemic_std > 0) and np.all(predictive.aleatoric_std > 0)


def test_several_networks_are_mixed(alone, several):
    function = several.posterior.function
    assert isinstance(function, Mixed) and len(function.members) == 3
    np.testing.assert_allclose(function.weights, 1 / 3)
    means = [np.asarray(one.marginals_in_numpy(NEW).mean) for one in function.members]
    assert np.max(np.abs(means[0] - means[1])) > 1e-6
    assert _error(several) < 1.2 * _error(alone)


def test_a_stated_kernel_stands_without_trees():
    stated = fitted(kernel="rbf")
    assert isinstance(stated.posterior.function, ConjugateNetwork)


@pytest.mark.parametrize(
    ("changes", "word"), [({"members": 0}, "members"), ({"prior_mean": "forest"}, "prior_mean")]
)
def test_parameters_without_meaning_are_refused(changes, word):
    with pytest.raises(ValueError, match=f"{word} expects"):
        fitted(**changes)


def test_predictions_of_a_table_need_no_jax(tmp_path):
    pandas = pytest.importorskip("pandas")
    from gfsvi.tables import Preparation

    frame = pandas.DataFrame(X, columns=list("abcd")).assign(y=Y)
    preparation = Preparation.learn(frame, "y", "regression")
    fit = Learner("regression", Parameters(**SMALL)).learn_table(
        preparation.prepare(frame), preparation
    )
    fit.save(tmp_path / "model.gfsvi")
    predictor = read_predictor(tmp_path / "model.gfsvi")
    new = pandas.DataFrame(NEW, columns=list("abcd"))
    found, expected = predictor.predict(new), fit.predict(new)
    np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-9)
    for got, end in zip(found.interval(0.9), expected.interval(0.9), strict=True):
        np.testing.assert_allclose(got, end, atol=1e-9)
    new.to_csv(tmp_path / "table.csv", index=False)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND], capture_output=True, text=True, cwd=tmp_path
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [0, []], done.stderr


def test_eight_threads_predict_with_trees_what_one_does(with_trees):
    expected = with_trees.predict(NEW)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: with_trees.predict(NEW), range(24)))
    assert all(np.array_equal(one.mean, expected.mean) for one in found)
    assert all(np.array_equal(one.std, expected.std) for one in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_after_a_fit_with_trees_gets_a_sentence(with_trees):
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of JAX, which says that forks may hang
        child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(with_trees.predict(NEW).mean).encode())
        except RuntimeError as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        assert "got a fork, in which JAX waits for threads" in told.read()
    os.waitpid(child, 0)
