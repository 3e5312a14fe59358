"""Labels of tables whose classes are rare or many."""

# pyright: reportAttributeAccessIssue=false

import numpy as np

from gfsvi.auto import Learner, Parameters
from gfsvi.prior_means.classifiers import cross_fitted_scores

SMALL = {"hidden": (10,), "num_steps": 30, "random_state": 0}
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(200, 2)), RNG.normal(size=(2000, 2))


def rare(x, random):
    chance = 1 / (1 + np.exp(4 - 2 * x[:, 0]))
    return (random.uniform(size=len(x)) < chance).astype(int), chance


def test_a_rare_class_is_as_probable_as_it_is_frequent():
    y, _ = rare(X, RNG)
    assert 0.02 < np.mean(y) < 0.12
    fitted = Learner("classification", Parameters(**SMALL, prior_mean=None)).learn(X, y)
    found = np.asarray(fitted.predict(NEW).probabilities)[:, 1]
    _, chance = rare(NEW, RNG)
    assert abs(np.mean(found) - np.mean(chance)) < 0.03
    # better than the share of the class alone, and nowhere near sure of it

    def density(p):
        return np.mean(chance * np.log(p) + (1 - chance) * np.log(1 - p))

    assert density(found) > density(np.full(len(NEW), np.mean(y))) + 0.02
    assert found.max() < 0.95


def test_fifteen_classes_are_told_apart():
    centres = np.stack(np.meshgrid(np.arange(5.0), np.arange(3.0)), axis=-1).reshape(-1, 2)
    y = np.arange(210) % 15
    x = centres[y] + 0.15 * RNG.normal(size=(210, 2))
    fitted = Learner("classification", Parameters(**SMALL)).learn(x, y)
    found = np.asarray(fitted.predict(centres).probabilities)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.array_equal(np.argmax(found, axis=1), np.arange(15))
    assert np.all(np.diagonal(found) > 0.5)


def test_a_class_of_a_single_row_is_learned_without_trees():
    y = np.where(X[:, 0] > 0, 1, 0)
    y[7] = 2
    assert cross_fitted_scores(X, y, 3, seed=0) is None
    fitted = Learner("classification", Parameters(**SMALL, prior_mean="trees")).learn(X, y)
    found = np.asarray(fitted.predict(NEW).probabilities)
    assert found.shape == (2000, 3)
    assert np.mean(found[:, 2]) < 0.1
