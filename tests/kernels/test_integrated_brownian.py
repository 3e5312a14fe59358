import jax
import numpy as np
import pytest
from scipy.integrate import quad

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Constant, IntegratedBrownian, Linear
from gfsvi.likelihoods import Normal
from gfsvi.methods import ExactGP
from gfsvi.numerics.precision import double


@pytest.mark.parametrize(("one", "other"), [(1.3, 2.1), (2.1, 1.3), (-0.4, -2.0), (1.3, -0.4)])
@double
def test_covariances_are_integrals_over_brownian_motion(one, other):
    # f(x) is the integral of (|x| - u) dB(u) from 0 to |x|, with another B on the other side.
    near = min(abs(one), abs(other)) if one * other > 0 else 0.0
    expected, _ = quad(lambda u: (abs(one) - u) * (abs(other) - u), 0, near)
    found = IntegratedBrownian(0.7).cross(np.array([[one]]), np.array([[other]]))
    np.testing.assert_allclose(found, [[0.7 * expected]], rtol=1e-9)


def test_a_trend_goes_on_with_its_last_slope_and_grows_uncertain():
    x = np.linspace(-2, 2, 80)[:, None]
    y = np.where(x < 0, 0.3 * x, 1.5 * x)[:, 0]
    kernel = Constant() + Linear() + IntegratedBrownian(5.0)
    model = Model(GaussianProcess(kernel), Normal(0.01))
    posterior = ExactGP()(model, Data(x, y), key=jax.random.key(0)).posterior
    later = np.array([[3.0], [4.0], [6.0]])
    values = posterior.function.marginals(later)
    np.testing.assert_allclose(values.mean[0], 1.5 * later[:, 0], rtol=0.02)
    growth = np.sqrt(np.asarray(values.variance[0]) / (5.0 * (later[:, 0] - 2) ** 3 / 3))
    np.testing.assert_allclose(growth, 1.0, rtol=0.1)
