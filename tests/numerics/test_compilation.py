"""What was compiled ahead of time is not compiled again, and nothing was run for it."""

import jax
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.covariances import ClosedForm, Kronecker
from gfsvi.functions import GaussianProcess
from gfsvi.inference.auto_mean import AutoMean
from gfsvi.inference.calibration import NoCalibration
from gfsvi.inference.mean_fit import TrainedMean
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI
from gfsvi.networks import MLP
from gfsvi.numerics import compilation
from gfsvi.numerics.compilation import let_go_if_many
from gfsvi.numerics.precision import to_numpy
from gfsvi.training.steps import BatchSteps


@pytest.fixture
def compiled(caplog):
    """Names of the programs that were compiled since the last time somebody asked."""
    with jax.log_compiles():

        def names():
            said = [r.getMessage() for r in caplog.records]
            caplog.clear()
            return [m.split("jit(")[1].split(")")[0] for m in said if "Finished XLA comp" in m]

        yield names


@pytest.mark.parametrize("num_features", [1, 5])
@pytest.mark.parametrize("covariance", [ClosedForm(), Kronecker()], ids=["computed", "trained"])
def test_a_rehearsal_leaves_no_step_of_a_fit_to_be_compiled(
    compiled, covariance, num_features, monkeypatch
):
    random = np.random.default_rng(0)
    x = random.normal(size=(40, num_features))
    data, validation = Data(x[10:], np.sin(x[10:, 0])), Data(x[:10], np.sin(x[:10, 0]))
    prior = to_numpy(Model(GaussianProcess(Matern52(2.0)), Normal(np.full(1, 0.3))))
    training = Training(num_steps=4, evaluate_every=2)
    method = GFSVI(
        MLP((6,), activation=jax.nn.relu),  # which NumPy has no form of
        covariance,
        **({"training": training} if isinstance(covariance, Kronecker) else {}),
        mean=AutoMean(otherwise=TrainedMean(training)),
        calibration=NoCalibration(),
    )
    key = jax.random.key(0, impl="rbg")
    with monkeypatch.context() as patch:
        patch.setattr(BatchSteps, "run", None)
        method.precompile(prior, data, key=key, validation=validation)
    # With one feature Gauss-Newton steps fit the mean, which are no steps of an optimiser.
    num_trained = isinstance(covariance, Kronecker) + (num_features > 1)
    assert compiled().count("_run") == num_trained
    method(prior, data, key=key, validation=validation)
    again = compiled()
    assert "_run" not in again and "_rated" not in again


def test_programs_are_let_go_when_they_have_become_many(monkeypatch):
    compiled = jax.jit(lambda x: x + 1)
    compiled(1.0)
    # The process of the tests may have many programs of its own already.
    monkeypatch.setattr(compilation, "MANY_MAPS", 10**9)
    let_go_if_many()
    assert compiled._cache_size() == 1
    monkeypatch.setattr(compilation, "MANY_MAPS", 1)
    let_go_if_many()
    assert compiled._cache_size() == 0 and compiled(1.0) == 2.0
