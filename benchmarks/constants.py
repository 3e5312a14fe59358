"""What a row costs: the constants of docs/explain/scale.md.

python -m benchmarks.constants [--output results/constants.json]

Processor seconds of one thread per row, for a network with two layers of 200 units and 20 features:
of a pass that adds up rows at 400 points, of a step on a batch of 4,096 rows, and of predictions;
and the operations per second that the formulas on that page make of them. The median of 5.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np

from gfsvi.data import Data
from gfsvi.functions import GaussianProcess
from gfsvi.inference.conjugate import Interpolation, posterior_of, solved, sums_at, tangents_of
from gfsvi.inference.streamed_mean import of_rows
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.model import Model
from gfsvi.networks import MLP
from gfsvi.networks.in_numpy import tanh_network
from gfsvi.numerics.threads import one_thread
from gfsvi.plain.networks import TanhNetwork

ROWS, FEATURES, HIDDEN, POINTS = 4096, 20, 200, 400
REPEATS = 5


def per_row(work: Callable[[], object]) -> float:
    """Processor seconds per row; the first call is not counted."""
    work()
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        found.append((time.process_time() - began) / ROWS)
    return float(np.median(found))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("results/constants.json"))
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    x = random.normal(size=(ROWS, FEATURES))
    data = Data(x, np.sin(x[:, 0]))
    network = MLP((HIDDEN, HIDDEN))
    params = network.init(x[:2], key=jax.random.key(0), dtype=np.float32)
    plain = tanh_network(network, params)
    if plain is None:
        raise RuntimeError("expected a network that NumPy evaluates")
    plain = TanhNetwork(tuple(matrix.astype(np.float32) for matrix in plain.matrices))
    prior, noise = GaussianProcess(Matern52(3.0)), Normal(0.3)
    y, variance = np.asarray(data.y)[None], np.full((1, ROWS), 0.1)
    with one_thread():
        at = Interpolation.at(tangents_of(network, params), prior, x[:POINTS], gamma=1e-8)
        sums = sums_at(at, x, y, variance)
        posterior = Model(posterior_of(at, solved(at, sums)), noise)
        seconds = {
            "sums": per_row(lambda: sums_at(at, x, y, variance)),
            "training": per_row(lambda: of_rows(plain, data, noise, 1)),
            "prediction": per_row(lambda: posterior.predict(x).std),
        }
    operations = {
        "sums": 6 * POINTS**2 + 4 * POINTS * HIDDEN,
        "training": 6 * (FEATURES * HIDDEN + HIDDEN**2),
    }
    rates = {name: count / seconds[name] / 1e9 for name, count in operations.items()}
    record = {"seconds_per_row": seconds, "gigaflops": rates}
    arguments.output.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record))


if __name__ == "__main__":
    main()
