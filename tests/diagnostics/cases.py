"""Fits of the same curve under the two likelihoods of numbers, for the checks to examine.

Their covariance is trained; `test_closed_form.py` examines fits that are computed.
"""

import dataclasses

import jax
import numpy as np

from gfsvi import Data, Fit, Model, Training
from gfsvi.covariances import Kronecker
from gfsvi.diagnostics import Diagnostic, diagnose
from gfsvi.functions import GaussianProcess
from gfsvi.inference.calibration import NoCalibration
from gfsvi.inference.mean_fit import TrainedMean
from gfsvi.kernels import RBF
from gfsvi.kernels.base import AbstractKernel
from gfsvi.likelihoods import Normal, WarpedNormal
from gfsvi.methods import GFSVI
from gfsvi.networks import MLP
from gfsvi.points import FixedPoints, LowDiscrepancy, Mixture
from gfsvi.predictives.warp import Warp
from gfsvi.training.history import History

KEY = jax.random.key(0)
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(40, 1))
Y = np.sin(3 * X[:, 0]) + 0.1 * RANDOM.normal(size=40)
METHOD = GFSVI(
    network=MLP((30, 30)),
    covariance=Kronecker(),
    points=Mixture((FixedPoints(), LowDiscrepancy(20))),
    training=Training(num_steps=400, evaluate_every=200),
    mean=TrainedMean(),
)
NOTHING = History({"objective": np.zeros(0)}, np.zeros(0, int), np.zeros(0), 0)


@dataclasses.dataclass(frozen=True)
class Case:
    """A fit, any part of which a test may exchange for a worse one."""

    prior: Model
    fit: Fit
    method: GFSVI
    data: Data

    def found(self, **changes) -> dict[str, Diagnostic]:
        """Diagnostics by name, after these changes of the arguments."""
        arguments = {
            "prior": self.prior,
            "posterior": self.fit.posterior,
            "data": self.data,
            "method": self.method,
            "history": self.fit.history,
            "key": KEY,
            **changes,
        }
        return {diagnostic.name: diagnostic for diagnostic in diagnose(**arguments)}

    def with_kernel(self, kernel: AbstractKernel) -> Model:
        """The prior with another kernel."""
        return Model(GaussianProcess(kernel), self.prior.likelihood)

    def with_noise(self, noise: float) -> Model:
        """The posterior with another noise."""
        likelihood = changed(self.fit.posterior.likelihood, noise=np.asarray(noise))
        return Model(self.fit.posterior.function, likelihood)


def changed(module, **fields):
    return dataclasses.replace(module, **fields)


def problem(name: str) -> tuple[Data, Normal | WarpedNormal]:
    """Data and likelihood: the warped target is in the thousands and strongly skewed."""
    if name == "normal":
        return Data(X, Y), Normal(0.1)
    y = 1000 * np.exp(1.5 * Y)
    return Data(X, y), WarpedNormal(0.15, Warp.fitted(y, 0.3))


def healthy_case(name: str) -> Case:
    data, likelihood = problem(name)
    prior = Model(GaussianProcess(RBF(0.7)), likelihood)
    return Case(prior, METHOD(prior, data, key=KEY), METHOD, data)


def hurried_case(name: str) -> Case:
    """Too few units, too few steps."""
    data, likelihood = problem(name)
    prior = Model(GaussianProcess(RBF(0.1)), likelihood)
    method = changed(
        METHOD,
        network=MLP((2,)),
        training=Training(num_steps=20, evaluate_every=5),
        mean=None,
        calibration=NoCalibration(),
    )
    return Case(prior, method(prior, data, key=KEY, validation=data), method, data)
