"""PyTorch modules; run by `make test-peers`, which installs PyTorch."""

import numpy as np
import pytest

from gfsvi import Data, condition_on, posterior_of
from gfsvi.kernels import RBF, Periodic
from gfsvi.networks import MLP, as_network

from .networks import DATA, OURS, A, B, X, Y, a, b

torch = pytest.importorskip("torch")
NEW = np.random.default_rng(1).normal(size=(9, 3)).astype(np.float32)


@pytest.fixture(scope="module")
def module():
    network = torch.nn.Sequential(torch.nn.Linear(3, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1))
    with torch.no_grad():
        for layer, matrix, bias in ((network[0], A, a), (network[2], B, b)):
            layer.weight[:], layer.bias[:] = torch.tensor(matrix.T), torch.tensor(bias)
    return network.eval()


@pytest.mark.parametrize("prior", ["auto", RBF(1.5), Periodic(1.0, 1.0, 3.0)])
def test_the_posterior_is_that_of_the_same_network_in_jax(module, prior):
    before = {name: weights.clone() for name, weights in module.state_dict().items()}
    found = posterior_of(module, DATA, prior=prior)
    expected = posterior_of(MLP((6,)), DATA, params=OURS, prior=prior)
    for name in ("mean", "std"):
        np.testing.assert_allclose(
            getattr(found.predict(NEW), name), getattr(expected.predict(NEW), name), atol=1e-6
        )
    assert all(torch.equal(before[name], now) for name, now in module.state_dict().items())


def test_rows_can_be_added(module):
    found = condition_on(posterior_of(module, DATA), Data(NEW, np.zeros(9)))
    expected = condition_on(posterior_of(MLP((6,)), DATA, params=OURS), Data(NEW, np.zeros(9)))
    np.testing.assert_allclose(found.predict(X).mean, expected.predict(X).mean, atol=1e-6)


def test_rows_are_evaluated_in_blocks(module, monkeypatch):
    monkeypatch.setattr("gfsvi.inference.evaluation.BLOCK_ELEMENTS", 100)
    monkeypatch.setattr("gfsvi.plain.posterior.MAX_ELEMENTS", 100)
    in_blocks = posterior_of(module, DATA, prior=RBF()).predict(NEW).std
    monkeypatch.undo()
    np.testing.assert_allclose(in_blocks, posterior_of(module, DATA, prior=RBF()).predict(NEW).std)


def test_images_and_normalisation_are_taken():
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        *(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.Flatten()),
        torch.nn.Linear(2 * 4 * 4, 3),
    ).eval()
    images = np.random.default_rng(0).normal(size=(30, 1, 6, 6)).astype(np.float32)
    labels = np.arange(30) % 3
    posterior = posterior_of(
        network, Data(images, labels), likelihood="categorical", prior=RBF(6.0)
    )
    found = posterior.predict(images[:5]).probabilities
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_modules_that_change_while_they_predict_are_refused():
    with pytest.raises(ValueError, match="BatchNorm1d; call module.eval"):
        posterior_of(torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.BatchNorm1d(1)), DATA)
    with pytest.raises(ValueError, match="module.eval"):
        posterior_of(torch.nn.Sequential(torch.nn.Dropout(0.1), torch.nn.Linear(3, 1)), DATA)


def test_what_needs_jax_says_so(module):
    with pytest.raises(TypeError, match="expects to be evaluated by PyTorch"):
        posterior_of(module, DATA).function.at(X)
    with pytest.raises(TypeError, match="expects to be evaluated by PyTorch"):
        as_network(module).apply({}, Y[:, None])
