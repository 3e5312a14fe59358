"""Memory of one step with the paper's CNN, 25 measurement points and ten outputs.

python -m benchmarks.memory --json
"""

import argparse
import json
import resource
import threading
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from gfsvi.covariances import Diagonal
from gfsvi.data import Data
from gfsvi.functions import GaussianProcess
from gfsvi.inference.elbo import Elbo
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Categorical
from gfsvi.methods import GFSVI
from gfsvi.model import Model
from gfsvi.networks import CNN
from gfsvi.points import UniformBox


def resident_mib() -> float:
    """Resident memory of this process, in MiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


class Peak(threading.Thread):
    """Samples the memory of the process every few milliseconds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.mib = resident_mib()
        self.running = True

    def run(self) -> None:
        while self.running:
            self.mib = max(self.mib, resident_mib())
            time.sleep(0.002)


def measure(batch: int = 100, points: int = 25) -> dict[str, float]:
    """Peak memory of compiling and running one step, above that of the bare process."""
    random = np.random.default_rng(0)
    data = Data(random.normal(size=(batch, 28, 28, 1)).astype(np.float32), np.arange(batch) % 10)
    with jax.enable_x64(True):
        jnp.zeros(1).block_until_ready()
        before = resident_mib()
        peak = Peak()
        peak.start()
        prior = Model(GaussianProcess(Matern52(20.0), outputs=10), Categorical())
        method = GFSVI(CNN(), Diagonal(), UniformBox(points), mean=None)
        start = method.initial(prior, data, key=jax.random.key(0))
        objective = Elbo(method.divergence(prior.function, data))

        @eqx.filter_jit
        @eqx.filter_value_and_grad
        def step(model: Model, batch: Data) -> jax.Array:
            return objective(model, batch, 1.0, key=jax.random.key(1))[0]

        on_device = jax.tree.map(jnp.asarray, data)
        for _ in range(3):
            jax.block_until_ready(step(start, on_device))
        peak.running = False
        peak.join()
    weights = sum(p.size for p in start.function.params)
    return {"peak_mib_above_process": peak.mib - before, "weights": weights}


def main() -> None:
    """Print the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    result = measure()
    print(json.dumps(result) if parser.parse_args().json else result)


if __name__ == "__main__":
    main()
