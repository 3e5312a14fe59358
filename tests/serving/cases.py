"""Saved models with random numbers in them: formulas must agree whatever the numbers are."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gfsvi.auto.fitted import Fitted
from gfsvi.auto.novelty import Novelty
from gfsvi.auto.targets import Numbers
from gfsvi.functions.conditioned_process import ConditionedProcess
from gfsvi.functions.conjugate_network import ConjugateNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.functions.tangents import Tangents
from gfsvi.kernels.base import AbstractKernel
from gfsvi.kernels.matern32 import Matern32
from gfsvi.likelihoods import WarpedNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.model import Model
from gfsvi.networks.mlp import MLP
from gfsvi.numerics.precision import double, to_numpy
from gfsvi.predictives.warp import Warp
from gfsvi.tables import Preparation

POINTS, ROWS = 40, 150  # more rows than a triangular solve takes at once
RANDOM = np.random.default_rng(0)
LENGTHS = np.array([0.7, 1.5, 3.0, 0.9, 2.0])


def table(num_targets: int = 1) -> pd.DataFrame:
    """A table of numbers, with gaps and a text column."""
    frame = pd.DataFrame(RANDOM.normal(3.0, 2.0, (ROWS, 2)), columns=["a", "b"])
    frame.loc[::7, "b"] = np.nan
    frame["c"] = np.where(RANDOM.random(ROWS) < 0.5, "yes", "no")
    for number in range(num_targets):
        frame[f"y{number}"] = RANDOM.normal(size=ROWS)
    return frame


def warped(y: np.ndarray) -> WarpedNormal:
    """A likelihood that bends, and is linear outside of these observations."""
    noise = np.full(y.shape[1], 0.4)
    return WarpedNormal(noise, Warp.fitted(y, 0.3))


@double
def posterior(
    prior: GaussianProcess, network: MLP, num_features: int, spread: float = 0.3
) -> ConjugateNetwork:
    """A function of the form of a closed-form posterior."""
    sizes = (num_features, *network.hidden, network.outputs)
    params = tuple(
        RANDOM.normal(size=(fan_in + 1, fan_out)).astype(np.float32) / fan_in**0.5
        for fan_in, fan_out in itertools.pairwise(sizes)
    )
    scales = tuple(np.float64(scale) for scale in RANDOM.normal(size=len(params)))
    outputs = network.outputs
    return ConjugateNetwork(
        Tangents(network, params, scales),
        prior,
        points=RANDOM.normal(size=(POINTS, num_features)),
        shift=RANDOM.normal(size=(outputs, POINTS)),
        root=spread * RANDOM.normal(size=(outputs, POINTS, POINTS)) / POINTS,
        eps=RANDOM.uniform(0.5, 2.0, outputs),
        whitener=np.tril(RANDOM.normal(size=(POINTS, POINTS))) / POINTS,
    )


@double
def fitted(
    kernel: AbstractKernel | None = None,
    likelihood: AbstractLikelihood | None = None,
    network: MLP | None = None,
    num_targets: int = 1,
    **changes: Any,
) -> tuple[Fitted, pd.DataFrame]:
    """A fit, and a table like the one it is said to have learned from."""
    frame = table(num_targets)
    names = [f"y{number}" for number in range(num_targets)]
    preparation = Preparation.learn(frame, names, "regression")
    x = preparation.inputs(frame)
    prior = GaussianProcess(kernel or Matern32(LENGTHS, 1.7), outputs=num_targets)
    y = frame[names].to_numpy()
    chosen = likelihood or warped(y)
    network = network or MLP((7, 5), outputs=num_targets)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    rows = (x - centre) / spread
    noise = np.full((1, len(rows)), 0.1)
    conditioned = ConditionedProcess.given(prior, rows, np.zeros((num_targets, len(rows))), noise)
    target = Numbers(y.mean(axis=0), 5 * y.std(axis=0))
    if num_targets == 1:
        target = Numbers(float(target.centre[0]), float(target.spread[0]))
    contents = {
        "prior": Model(prior, chosen),
        "posterior": Model(posterior(prior, network, len(LENGTHS)), chosen),
        "target": target,
        "input_centre": centre,
        "input_spread": spread,
        "feature_names": preparation.feature_names,
        "are_named": True,
        "preparation": preparation,
        "settings": None,
        "history": None,
        "novelty_measure": Novelty(to_numpy(conditioned)),
        "diagnostics": (),
        "validation_rows": np.arange(0),
    }
    return Fitted(**(contents | changes)), frame


def saved(path: Path, **options: Any) -> tuple[Fitted, pd.DataFrame]:
    """The same, written to a file."""
    model, frame = fitted(**options)
    model.save(path)
    return model, frame
