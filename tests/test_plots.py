"""Pictures of priors."""

import datetime

import matplotlib as mpl
import numpy as np
import pytest

from gfsvi import Model
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Periodic
from gfsvi.likelihoods import Normal
from gfsvi.plots import plot_prior

X = np.linspace(0, 1, 30)


@pytest.fixture(autouse=True)
def _no_window():
    import matplotlib.pyplot as plt

    with mpl.rc_context({"backend": "agg"}):
        yield
    plt.close("all")


PRIORS = [
    RBF(0.2),
    "RBF(lengthscale=0.2)",
    GaussianProcess(RBF(0.2)),
    Model(GaussianProcess(RBF(0.2)), Normal()),
]


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: type(prior).__name__)
def test_the_picture_has_the_mean_and_as_many_functions_as_asked_for(prior):
    axes = plot_prior(prior, X, num_samples=3)
    mean, *draws = axes.get_lines()
    assert len(draws) == 3
    np.testing.assert_array_equal(mean.get_ydata(), np.zeros(30))
    first = plot_prior(RBF(0.2), X[::-1], num_samples=3).get_lines()[1]
    np.testing.assert_allclose(draws[0].get_ydata(), first.get_ydata())


def test_dates_and_a_period_in_years_are_drawn_in_years():
    start = datetime.date(2015, 1, 1)
    dates = [start + datetime.timedelta(days=i) for i in range(731)]
    draw = plot_prior(Periodic(period="1 year"), dates, num_samples=1).get_lines()[1].get_ydata()
    np.testing.assert_allclose(draw[0], draw[365], atol=0.02)
    assert np.ptp(draw) > 0.1


def test_functions_are_drawn_on_given_axes():
    import matplotlib.pyplot as plt

    axes = plt.subplots()[1]
    assert plot_prior(RBF(), X[:, None], axes=axes) is axes


def test_several_features_raise():
    with pytest.raises(ValueError, match="points along one axis.*got an array of shape"):
        plot_prior(RBF(), np.zeros((5, 2)))
