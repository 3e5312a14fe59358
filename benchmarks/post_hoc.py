"""Posteriors of trained networks: beside laplace-torch on the same network, and what each costs.

python -m benchmarks.post_hoc --data DIR --output results/post_hoc.json

Needs the packages that `make test-peers` installs. DIR holds regression/NAME.npz with X and y.
laplace-torch has Kronecker factors of all weights, and chooses prior precision and noise by its own
evidence, as in its documentation; ours chooses kernel and noise by evidence and leave-one-out rows.
Log predictive densities are means over test rows, on the target standardised by the training rows,
and then over folds. Seconds are those of the processor, one thread.
"""

# PyTorch and laplace-torch are not installed where types are checked.
# pyright: reportMissingImports=false

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import laplace
import numpy as np
import torch
from flax import linen, nnx
from sklearn.model_selection import KFold
from sklearn.neural_network import MLPRegressor
from torch.utils.data import DataLoader, TensorDataset

from gfsvi import Data, posterior_of
from gfsvi.numerics.threads import one_thread

TABLES, NUM_FOLDS, WIDTH = ("boston", "concrete", "energy"), 5, 50
NUM_EPOCHS, LEARNING_RATE, WEIGHT_DECAY = 1000, 1e-2, 5e-4
NUM_EVIDENCE_STEPS, EVIDENCE_LEARNING_RATE = 1000, 1e-1

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def trained(x: np.ndarray, y: np.ndarray, seed: int) -> torch.nn.Module:
    """A network of two hidden layers with tanh, trained by Adam with weight decay."""
    torch.manual_seed(seed)
    widths = (torch.nn.Linear(x.shape[1], WIDTH), torch.nn.Linear(WIDTH, WIDTH))
    hidden = [part for layer in widths for part in (layer, torch.nn.Tanh())]
    network = torch.nn.Sequential(*hidden, torch.nn.Linear(WIDTH, 1))
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    inputs, targets = torch.tensor(x), torch.tensor(y)[:, None]
    for _ in range(NUM_EPOCHS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(network(inputs), targets).backward()
        optimizer.step()
    return network.eval()


def by_laplace(network: torch.nn.Module, rows: Rows) -> float:
    """The density of test rows by laplace-torch."""
    x, y, x_test, y_test = rows
    posterior = laplace.Laplace(
        network, "regression", subset_of_weights="all", hessian_structure="kron"
    )
    data = TensorDataset(torch.tensor(x), torch.tensor(y)[:, None])
    posterior.fit(DataLoader(data, batch_size=len(x)))
    log_precision, log_noise = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.Adam([log_precision, log_noise], lr=EVIDENCE_LEARNING_RATE)
    for _ in range(NUM_EVIDENCE_STEPS):
        optimizer.zero_grad()
        evidence = posterior.log_marginal_likelihood(log_precision.exp(), log_noise.exp())
        (-evidence).backward()
        optimizer.step()
    mean, variance = (
        part.detach().flatten().double()
        for part in posterior(torch.tensor(x_test), pred_type="glm")
    )
    variance += float(posterior.sigma_noise) ** 2
    found = torch.distributions.Normal(mean, variance.sqrt()).log_prob(
        torch.tensor(y_test).double()
    )
    return float(found.mean())


def by_ours(network: object, rows: Rows, **options: Any) -> float:
    """The density of test rows by `posterior_of`."""
    x, y, x_test, y_test = rows
    posterior = posterior_of(network, Data(x, y.astype(np.float64)), **options)
    return float(np.mean(posterior.predict(x_test).log_prob(y_test)))


def compared(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Densities, seconds, and whether the weights are what they were, over folds."""
    ways: dict[str, Callable[[torch.nn.Module, Rows], float]] = {
        "laplace-torch": by_laplace,
        "ours": by_ours,
        "ours, mean of the posterior": lambda n, rows: by_ours(n, rows, mean="posterior"),
    }
    densities, seconds = ({name: [] for name in ways} for _ in range(2))
    untouched = True
    for seed, (train, test) in enumerate(KFold(NUM_FOLDS, shuffle=True, random_state=0).split(x)):
        rows = _standardized(x, y, train, test)
        network = trained(*rows[:2], seed)
        before = {name: weights.clone() for name, weights in network.state_dict().items()}
        for name, way in ways.items():
            began = time.process_time()
            densities[name].append(way(network, rows))
            seconds[name].append(time.process_time() - began)
        after = network.state_dict()
        untouched &= all(torch.equal(weights, after[name]) for name, weights in before.items())
    return {
        "log_predictive_density": {
            name: float(np.mean(found)) for name, found in densities.items()
        },
        "better_folds": int(np.sum(np.array(densities["ours"]) > densities["laplace-torch"])),
        "folds": NUM_FOLDS,
        "seconds": {name: float(np.median(found)) for name, found in seconds.items()},
        "weights_untouched": untouched,
    }


def _standardized(x: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Rows:
    spread = x[train].std(axis=0)
    inputs = (x - x[train].mean(axis=0)) / np.where(spread > 0, spread, 1)
    targets = (y - y[train].mean()) / y[train].std()
    x, y = inputs.astype(np.float32), targets.astype(np.float32)
    return x[train], y[train], x[test], y[test]


def costs(x: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Seconds of `posterior_of` for untrained networks of one size, by framework."""
    features, key = x.shape[1], jax.random.key(0)

    class Linen(linen.Module):
        @linen.compact
        def __call__(self, rows: Any) -> Any:
            for _ in range(2):
                rows = linen.tanh(linen.Dense(WIDTH)(rows))
            return linen.Dense(1)(rows)

    widths, random = (features, WIDTH, WIDTH, 1), nnx.Rngs(0)
    layers = [nnx.Linear(a, b, rngs=random) for a, b in itertools.pairwise(widths)]
    of_nnx = nnx.Sequential(layers[0], jax.numpy.tanh, layers[1], jax.numpy.tanh, layers[2])
    of_linen, hidden = Linen(), (WIDTH, WIDTH)
    networks: dict[str, tuple[object, dict[str, Any]]] = {
        "Equinox": (eqx.nn.MLP(features, 1, WIDTH, 2, jax.numpy.tanh, key=key), {}),
        "Flax NNX": (of_nnx, {}),
        "Flax linen": (of_linen, {"params": of_linen.init(key, x[:1])["params"]}),
        "PyTorch": (trained(x[:50], y[:50], 0), {}),
        "scikit-learn": (MLPRegressor(hidden_layer_sizes=hidden, activation="tanh").fit(x, y), {}),
        "scikit-learn, relu": (MLPRegressor(hidden_layer_sizes=hidden).fit(x, y), {}),
    }
    found = {}
    for name, (network, options) in networks.items():
        began = time.process_time()
        posterior_of(network, Data(x, y.astype(np.float64)), **options)
        found[name] = time.process_time() - began
        print(name, found[name], flush=True)
    return found


@one_thread()
def main() -> None:
    """Measure and write one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder with regression/*.npz")
    parser.add_argument("--output", required=True, type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    result: dict[str, Any] = {"tables": {}}
    for name in TABLES:
        table = np.load(arguments.data / "regression" / f"{name}.npz")
        x, y = table["X"], table["y"].ravel()
        result["tables"][name] = compared(x, y)
        print(name, json.dumps(result["tables"][name]), flush=True)
        if name == TABLES[-1]:
            rows = np.arange(500)
            result["seconds"] = costs(*_standardized(x, y, rows, rows[:1])[:2])
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
