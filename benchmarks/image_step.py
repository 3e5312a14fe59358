"""Cost of a step of GFSVI on images relative to a step of plain training.

python -m benchmarks.image_step --json results/image_step.json

The paper's convolutional network on 28 x 28 images, batches of 100, 25 measurement points, ten
outputs. Steps of both are timed in turns, so that other load on the machine affects both alike.
GFSVI is timed with the expected log-likelihood estimated by draws in one forward pass, as in the
experiments; `--exact` also times it with the covariance of the outputs at every image. It uses one
thread, as the workers of experiments do.
"""

import argparse
import json
import os
import resource
import time
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from gfsvi.covariances import Diagonal
from gfsvi.data import Data
from gfsvi.functions import BayesianNetwork, GaussianProcess, LinearizedNetwork
from gfsvi.inference.elbo import Elbo
from gfsvi.inference.point_estimate import LogPosterior, WeightPrior, likelihood_of, random_members
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Categorical
from gfsvi.methods.gfsvi import GFSVI, Subsampling
from gfsvi.model import Model
from gfsvi.networks import CNN
from gfsvi.numerics.precision import double
from gfsvi.numerics.process import with_one_thread
from gfsvi.points import BatchRows, Mixture, UniformBox
from gfsvi.training.steps import BatchState, BatchSteps, Objective, learnable_parts

NUM_IMAGES, NUM_CLASSES, BATCH_SIZE = 2000, 10, 100
POINTS = Mixture((BatchRows(13), UniformBox(12)))
NUM_OUTPUTS = 2
ROUNDS, STEPS_PER_ROUND = 8, 5


class Case:
    """Steps of one method, and the time per step in each round."""

    def __init__(self, objective: Objective, model: Model, data: Data, key: Any):
        params, rest = learnable_parts(model, likelihood_of)
        self._steps = BatchSteps(objective, optax.adam(1e-3), rest, BATCH_SIZE)
        self._state: BatchState = self._steps.start(params, len(data), key)
        self._data = data
        self.seconds: list[float] = []

    def run(self) -> None:
        """Run one round of steps."""
        began = time.perf_counter()
        self._state, _ = self._steps.run(self._state, self._data, STEPS_PER_ROUND)
        self.seconds.append((time.perf_counter() - began) / STEPS_PER_ROUND)

    @property
    def milliseconds(self) -> float:
        """Median over rounds, without the first, which compiles."""
        return 1000 * float(np.median(self.seconds[1:]))


def images(key: Any) -> Data:
    """Random images; their content does not affect the time of a step."""
    x = jax.random.normal(key, (NUM_IMAGES, 28, 28, 1))
    return Data(x, jax.random.randint(key, (NUM_IMAGES,), 0, NUM_CLASSES))


def map_case(data: Data, key: Any) -> Case:
    """Plain training of the weights."""
    prior = BayesianNetwork.prior(CNN(), data.x[:1])
    start = random_members(CNN(), prior.params, data.x, 1, key=key)
    objective = LogPosterior(WeightPrior.of(prior))
    return Case(objective, Model(start, Categorical(NUM_CLASSES)), data, key)


def gfsvi_case(data: Data, key: Any, *, num_samples: int | None) -> Case:
    """The full objective of GFSVI."""
    network, covariance = CNN(), Diagonal()
    params = network.init(data.x, key=key)
    state = covariance.init(params, key=key)
    function = LinearizedNetwork(network, covariance, params, state, num_samples)
    prior = GaussianProcess(Matern52(lengthscale=jnp.asarray(28.0)), outputs=NUM_CLASSES)
    method = GFSVI(network, covariance, POINTS, subsampling=Subsampling(num_outputs=NUM_OUTPUTS))
    objective = Elbo(method.divergence(prior, data))
    return Case(objective, Model(function, Categorical(NUM_CLASSES)), data, key)


@double
def measured(exact: bool) -> dict[str, float]:
    """Milliseconds per step of each case, their ratios, and the memory of the process."""
    key = jax.random.key(0, impl="rbg")
    data = images(key)
    cases = {"map": map_case(data, key), "gfsvi": gfsvi_case(data, key, num_samples=2)}
    if exact:
        cases["gfsvi_exact"] = gfsvi_case(data, key, num_samples=None)
    for _ in range(ROUNDS + 1):
        for case in cases.values():
            case.run()
    found = {f"{name}_ms": case.milliseconds for name, case in cases.items()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratios = {
        f"{name}_over_map": case.milliseconds / cases["map"].milliseconds
        for name, case in cases.items()
        if name != "map"
    }
    return found | ratios | {"peak_mib": peak}


def main() -> None:
    """Time the steps, and print or write the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--json", type=Path, nargs="?", const=Path("-"), help="file to write, else print"
    )
    parser.add_argument("--exact", action="store_true", help="also with exact marginals")
    arguments = parser.parse_args()
    os.environ |= with_one_thread() | os.environ
    found = measured(arguments.exact)
    text = json.dumps({name: round(value, 3) for name, value in found.items()}, indent=1)
    if arguments.json is None or str(arguments.json) == "-":
        print(text)
    else:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
