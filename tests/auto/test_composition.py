"""What a posterior is made of, in numbers and in a phrase."""

# pyright: reportArgumentType=false
# Arrays of NumPy go where arrays of JAX are annotated.

import equinox as eqx
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from gfsvi.auto.composition import composition, in_words
from gfsvi.functions import GaussianProcess
from gfsvi.functions.beside import Beside
from gfsvi.functions.mixed import Mixed
from gfsvi.functions.shifted import Shifted
from gfsvi.kernels import RBF
from gfsvi.prior_means.conversion import as_mean_function

X, Y = np.arange(8.0)[:, None], np.arange(8.0)
PROCESS = GaussianProcess(RBF())
TREES = as_mean_function([DecisionTreeRegressor().fit(X, Y)])


def test_a_network_alone_builds_on_nothing():
    assert composition(PROCESS) is None
    assert composition(Mixed((PROCESS, PROCESS), np.full(2, 0.5))) is None


def test_the_weight_of_a_member_that_builds_on_trees_is_that_of_the_mixture():
    found = composition(Mixed((PROCESS, Shifted(PROCESS, TREES)), np.array([0.7, 0.3])))
    assert found is not None and found.built_on == "trees"
    assert np.isclose(found.share, 0.3)
    assert in_words(found) == "two networks; the one that builds on trees has 30 % of the weight"


def test_weights_of_nested_mixtures_are_multiplied():
    several = Mixed((PROCESS, PROCESS), np.full(2, 0.5))
    around = Mixed((Shifted(PROCESS, TREES), PROCESS), np.full(2, 0.5))
    found = composition(Mixed((several, around), np.array([0.2, 0.8])))
    assert found is not None and np.isclose(found.share, 0.4)


def test_a_network_that_sees_scores_of_trees_builds_on_trees():
    found = composition(eqx.tree_at(lambda b: b.columns, Beside(PROCESS, ()), (TREES,)))
    assert found is not None and found.share == 1
    assert in_words(found) == "a network that builds on trees"


def test_another_regressor_is_called_by_its_name():
    mean = as_mean_function([LinearRegression().fit(X, Y)])
    found = composition(Shifted(PROCESS, mean))
    assert found is not None and found.built_on == "LinearRegression"
