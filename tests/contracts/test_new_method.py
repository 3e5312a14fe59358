"""The method of docs/extend/method.md, held to the contract of every method."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import jax
import numpy as np
import pytest

import gfsvi.methods
from gfsvi import BayesianRegressor, Data, Model, registry
from gfsvi.functions import BayesianNetwork
from gfsvi.likelihoods import Normal
from gfsvi.networks import MLP

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "method.md"


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The very file that the page shows, put where methods are looked for."""
    (source,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    folder = tmp_path_factory.mktemp("methods")
    (folder / "anchored_ensemble.py").write_text(source)
    gfsvi.methods.__path__.append(str(folder))
    name = "gfsvi.methods.anchored_ensemble"
    try:
        yield importlib.import_module(name)
    finally:
        gfsvi.methods.__path__.remove(str(folder))
        sys.modules.pop(name, None)


def test_one_file_is_all_it_takes_to_have_a_name(module: ModuleType) -> None:
    assert registry.find("methods", "anchored_ensemble") is module.AnchoredEnsemble
    assert "draws from the prior" in registry.describe("methods")["anchored_ensemble"]


def test_the_shown_method_learns_and_is_unsure_away_from_data(module: ModuleType) -> None:
    x = np.linspace(-1, 1, 30)[:, None]
    data = Data(x, np.sin(3 * x[:, 0]))
    prior = Model(BayesianNetwork.prior(MLP((20,)), x), Normal(0.1))
    posterior = module.AnchoredEnsemble()(prior, data, key=jax.random.key(0)).posterior
    near, far = posterior.predict(x), posterior.predict(np.array([[4.0], [-4.0]]))
    assert np.sqrt(np.mean((near.mean - data.y) ** 2)) < 0.1
    assert np.min(far.epistemic_std) > 3 * np.max(near.epistemic_std)


def test_estimators_take_the_shown_method_by_name(module: ModuleType) -> None:
    x = np.random.default_rng(0).normal(size=(30, 2))
    regressor = BayesianRegressor("anchored_ensemble", hidden=(8,), num_steps=20, random_state=0)
    mean, std = regressor.fit(x, x[:, 0]).predict(x, return_std=True)
    assert mean.shape == std.shape == (30,) and np.all(std > 0)
