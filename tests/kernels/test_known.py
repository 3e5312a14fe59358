"""Kernels whose parameters are known."""

import jax
import numpy as np
import pytest

from gfsvi.auto.kernel_text import kernel_of
from gfsvi.auto.units import Feature, in_model_units
from gfsvi.data import Data
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Known, Linear, Periodic
from gfsvi.likelihoods import Normal
from gfsvi.methods import EmpiricalBayes
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.settings import Training

X = np.linspace(-1, 1, 12)[:, None]


@double
def test_it_is_the_kernel_that_it_holds():
    inner = 0.5 * RBF(0.3) + Periodic(period=0.7)
    np.testing.assert_allclose(Known(inner).gram(X), inner.gram(X), rtol=1e-14)
    np.testing.assert_allclose(Known(inner).cross(X, X[:3]), inner.cross(X, X[:3]), rtol=1e-14)
    np.testing.assert_allclose(Known(inner).diagonal(X), inner.diagonal(X), rtol=1e-14)


def test_a_number_in_front_is_known_too():
    assert repr(2.0 * Known(RBF(0.3, 0.5))) == repr(Known(RBF(0.3, 1.0)))


@double
def test_the_evidence_leaves_it_alone_and_learns_its_neighbour():
    model = Model(GaussianProcess(Known(RBF(0.3, 0.5)) + Linear(0.7)), Normal(0.1))
    search = EmpiricalBayes(training=Training(num_steps=3))
    found = search(model, Data(X, 5 * X[:, 0]), key=jax.random.key(0)).posterior
    known, learned = found.function.kernel.terms
    assert repr(known) == repr(Known(RBF(0.3, 0.5)))
    assert float(learned.variance) != pytest.approx(0.7)


def test_its_text_makes_it_again_and_a_table_gives_it_units():
    kernel = Known(0.5 * RBF(lengthscale="50").on("size") + Linear().on("size"))
    assert repr(kernel_of(repr(kernel))) == repr(kernel)
    in_units = in_model_units(kernel, (Feature("size", "size", 25.0),))
    leaves = jax.tree.leaves(in_units)
    assert leaves and all(isinstance(leaf, float) for leaf in leaves)
    assert 2.0 in leaves and 0.5 in leaves


def test_one_length_scale_per_feature_is_refused():
    with pytest.raises(ValueError, match="Known expects a kernel with single numbers; got an arr"):
        Known(RBF(np.ones(3)))
