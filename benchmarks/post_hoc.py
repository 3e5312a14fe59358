"""Posteriors of trained networks: beside laplace-torch on the same network, and what each costs.

python -m benchmarks.post_hoc --data DIR --output results/post_hoc.json [--images]

Needs the packages that `make test-peers` installs. DIR holds regression/NAME.npz with X and y, and
images/fashion_mnist.npz; `--images` measures the images alone, and what else is in the file stays.
laplace-torch has Kronecker factors of all weights, and chooses prior precision and noise by its own
evidence, as in its documentation; ours chooses kernel and noise by evidence and leave-one-out rows.
Log predictive densities are means over test rows, on the target standardised by the training rows,
and then over folds. Images are the first 1,000 to train and the first 1,000 to test of
Fashion-MNIST, pixels as columns, with networks of three seeds; laplace-torch chooses its prior
precision by evidence and predicts with the probit approximation, as is its default. Seconds are
those of the processor, one thread.
"""

# PyTorch and laplace-torch are not installed where types are checked.
# pyright: reportMissingImports=false

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterable
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

NUM_IMAGES, NUM_CLASSES, IMAGE_SEEDS = 1000, 10, 3
IMAGE_EPOCHS, IMAGE_LEARNING_RATE = 100, 1e-3

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
Way = Callable[[torch.nn.Module, Rows], float]


def trained(x: np.ndarray, y: np.ndarray, seed: int) -> torch.nn.Module:
    """A network of two hidden layers with tanh, trained by Adam with weight decay."""
    network = _network(x.shape[1], 1, seed)
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    inputs, targets = torch.tensor(x), torch.tensor(y)[:, None]
    for _ in range(NUM_EPOCHS):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(network(inputs), targets).backward()
        optimizer.step()
    return network.eval()


def trained_on_labels(x: np.ndarray, y: np.ndarray, seed: int) -> torch.nn.Module:
    """The same network with an output per class, trained on batches of 100."""
    network = _network(x.shape[1], NUM_CLASSES, seed)
    optimizer = torch.optim.Adam(
        network.parameters(), IMAGE_LEARNING_RATE, weight_decay=WEIGHT_DECAY
    )
    data = TensorDataset(torch.tensor(x), torch.tensor(y))
    for _ in range(IMAGE_EPOCHS):
        for inputs, labels in DataLoader(data, batch_size=100, shuffle=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(inputs), labels).backward()
            optimizer.step()
    return network.eval()


def _network(num_inputs: int, num_outputs: int, seed: int) -> torch.nn.Module:
    torch.manual_seed(seed)
    widths = (torch.nn.Linear(num_inputs, WIDTH), torch.nn.Linear(WIDTH, WIDTH))
    hidden = [part for layer in widths for part in (layer, torch.nn.Tanh())]
    return torch.nn.Sequential(*hidden, torch.nn.Linear(WIDTH, num_outputs))


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


def labels_by_laplace(network: torch.nn.Module, rows: Rows) -> float:
    """The log probability of test labels by laplace-torch."""
    x, y, x_test, y_test = rows
    posterior = laplace.Laplace(
        network, "classification", subset_of_weights="all", hessian_structure="kron"
    )
    data = TensorDataset(torch.tensor(x), torch.tensor(y))
    posterior.fit(DataLoader(data, batch_size=200))
    posterior.optimize_prior_precision(method="marglik")
    parts = torch.tensor(x_test).split(200)
    found = torch.cat([posterior(part).detach() for part in parts])
    return float(found.double().log()[np.arange(len(y_test)), y_test].mean())


def labels_by_network(network: torch.nn.Module, rows: Rows) -> float:
    """The log probability of test labels by the network alone."""
    _, _, x_test, y_test = rows
    with torch.no_grad():
        logs = torch.log_softmax(network(torch.tensor(x_test)).double(), dim=1)
    return float(logs[np.arange(len(y_test)), y_test].mean())


def by_ours(network: object, rows: Rows, **options: Any) -> float:
    """The density of test rows by `posterior_of`."""
    x, y, x_test, y_test = rows
    y = y if y.dtype.kind == "i" else y.astype(np.float64)
    posterior = posterior_of(network, Data(x, y), **options)
    return float(np.mean(posterior.predict(x_test).log_prob(y_test)))


def compared(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Densities, seconds, and whether the weights are what they were, over folds."""
    folds = KFold(NUM_FOLDS, shuffle=True, random_state=0).split(x)
    rows = (_standardized(x, y, train, test) for train, test in folds)
    ways: dict[str, Way] = {
        "laplace-torch": by_laplace,
        "ours": by_ours,
        "ours, mean of the posterior": lambda n, rows: by_ours(n, rows, mean="posterior"),
    }
    return _measured(((trained(*r[:2], seed), r) for seed, r in enumerate(rows)), ways)


def compared_on_images(path: Path) -> dict[str, Any]:
    """The same for images, the first of a data set, with networks of several seeds."""
    with np.load(path, allow_pickle=False) as file:
        x, y, x_test, y_test = (
            file[f"{a}_{b}"][:NUM_IMAGES] for b in ("train", "test") for a in "xy"
        )
    centre, spread = x.mean(), x.std()
    x, x_test = (((part - centre) / spread).reshape(len(part), -1) for part in (x, x_test))
    numbers = (part.astype(np.int64) for part in (y, y_test))
    (y, y_test), (x, x_test) = numbers, (part.astype(np.float32) for part in (x, x_test))
    rows = (x, y, x_test, y_test)
    labels = {"likelihood": "categorical"}
    ways: dict[str, Way] = {
        "the network alone": labels_by_network,
        "laplace-torch": labels_by_laplace,
        "ours": lambda n, rows: by_ours(n, rows, **labels),
        "ours, mean of the posterior": lambda n, rows: by_ours(n, rows, mean="posterior", **labels),
    }
    networks = ((trained_on_labels(*rows[:2], seed), rows) for seed in range(IMAGE_SEEDS))
    return _measured(networks, ways)


def _measured(
    networks: Iterable[tuple[torch.nn.Module, Rows]], ways: dict[str, Way]
) -> dict[str, Any]:
    densities, seconds = ({name: [] for name in ways} for _ in range(2))
    untouched = True
    for network, rows in networks:
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
        "folds": len(densities["ours"]),
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
    parser.add_argument("--images", action="store_true", help="measure the images alone")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    result: dict[str, Any] = {"tables": {}}
    if arguments.images:
        result = json.loads(arguments.output.read_text())
    for name in () if arguments.images else TABLES:
        table = np.load(arguments.data / "regression" / f"{name}.npz")
        x, y = table["X"], table["y"].ravel()
        result["tables"][name] = compared(x, y)
        print(name, json.dumps(result["tables"][name]), flush=True)
        if name == TABLES[-1]:
            rows = np.arange(500)
            result["seconds"] = costs(*_standardized(x, y, rows, rows[:1])[:2])
    result["Fashion-MNIST"] = compared_on_images(arguments.data / "images" / "fashion_mnist.npz")
    print(json.dumps(result["Fashion-MNIST"]), flush=True)
    arguments.output.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
