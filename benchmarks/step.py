"""Cost of a training step relative to a straightforward implementation, and its growth.

python -m benchmarks.step --json            the three ratios as one object
python -m benchmarks.step --picture FILE    growth with batch, points, weights and outputs
"""

import argparse
import json
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from benchmarks import straightforward
from benchmarks.timing import interleaved_seconds
from gfsvi.covariances import Diagonal, Kronecker
from gfsvi.covariances.base import AbstractCovariance
from gfsvi.data import Data
from gfsvi.functions import GaussianProcess, LinearizedNetwork
from gfsvi.inference.divergences import regularized_kl
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.model import Model
from gfsvi.networks import MLP

GAMMA = 1e-10


class Setting(eqx.Module):
    """One problem size: data, a network with a covariance, a prior and measurement points."""

    model: Model
    prior: GaussianProcess
    data: Data
    points: Array

    @classmethod
    def of(
        cls,
        batch: int = 2000,
        points: int = 100,
        hidden: tuple[int, ...] = (100, 100),
        outputs: int = 1,
        covariance: AbstractCovariance | None = None,
        features: int = 13,
    ) -> "Setting":
        """A setting with random data, of which only the sizes matter."""
        covariance = Diagonal() if covariance is None else covariance
        random = np.random.default_rng(0)
        x, y = random.normal(size=(batch, features)), random.normal(size=(batch, outputs))
        key = jax.random.key(0)
        network = MLP(hidden, outputs)
        params = network.init(jnp.asarray(x[:100]), key=key, dtype=jnp.float32)
        function = LinearizedNetwork(network, covariance, params, covariance.init(params, key=key))
        kernel = Matern52(np.full(features, features**0.5))
        data = Data(jnp.asarray(x), jnp.asarray(y[:, 0] if outputs == 1 else y))
        box = jnp.asarray(random.uniform(-2, 2, size=(points, features)))
        return cls(
            Model(function, Normal(0.3)), GaussianProcess(kernel, outputs=outputs), data, box
        )


def gradient_of(function: Callable[[Model], Array], model: Model) -> Callable[[], Any]:
    """A compiled call of the value and the gradient with respect to all parameters."""
    compiled = eqx.filter_jit(eqx.filter_value_and_grad(function))
    return lambda: compiled(model)


def log_likelihood(setting: Setting) -> Callable[[Model], Array]:
    """The expected log-likelihood term."""
    return lambda model: jnp.sum(model.expected_log_prob(setting.data.x, setting.data.y))


def divergence(setting: Setting) -> Callable[[Model], Array]:
    """The regularised KL term."""
    x, prior = setting.points, setting.prior
    return lambda model: regularized_kl(model.function.at(x), prior.at(x), gamma=GAMMA)


def objective(setting: Setting) -> Callable[[Model], Array]:
    """The whole objective of a step."""
    expected, kl = log_likelihood(setting), divergence(setting)
    return lambda model: expected(model) - kl(model)


def map_loss(setting: Setting) -> Callable[[Model], Array]:
    """Squared error of a plain network at its mean weights, which is the cost of MAP training."""
    x, y = setting.data.x, setting.data.y

    def loss(model: Model) -> Array:
        function = model.function
        predicted = function.network.apply(function.params, x)[:, 0]
        return jnp.sum((jnp.asarray(y, predicted.dtype) - predicted) ** 2)

    return loss


def naive_step(setting: Setting) -> Callable[[], Any]:
    """Value and gradient of the straightforward implementation."""
    function = setting.model.function
    batch = (setting.data.x, setting.data.y)

    def loss(params: Any, log_std: Any, noise: Array) -> Array:
        return straightforward.objective(
            function.network, setting.prior, params, log_std, noise, batch, setting.points, GAMMA
        )

    compiled = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2)))
    noise = jnp.asarray(setting.model.likelihood.noise)
    return lambda: compiled(function.params, function.state, noise)


def ratios() -> dict[str, Any]:
    """The promised ratios; both sides of each are timed in turns."""
    small = Setting.of()
    wide = {c: Setting.of(points=500, covariance=c()) for c in (Diagonal, Kronecker)}
    pairs = [
        {"step": gradient_of(objective(small), small.model), "naive": naive_step(small)},
        {
            "log_likelihood": gradient_of(log_likelihood(small), small.model),
            "map": gradient_of(map_loss(small), small.model),
        },
        {
            "diagonal_kl": gradient_of(divergence(wide[Diagonal]), wide[Diagonal].model),
            "kronecker_kl": gradient_of(divergence(wide[Kronecker]), wide[Kronecker].model),
        },
    ]
    seconds: dict[str, float] = {}
    for pair in pairs:
        seconds |= interleaved_seconds(pair)
    return {
        "speedup_over_straightforward": seconds["naive"] / seconds["step"],
        "loglik_over_map": seconds["log_likelihood"] / seconds["map"],
        "kronecker_kl_over_diagonal": seconds["kronecker_kl"] / seconds["diagonal_kl"],
        "milliseconds": {name: 1e3 * value for name, value in seconds.items()},
    }


GROWTH = {
    "batch": ("rows in the batch", [250, 500, 1000, 2000]),
    "points": ("measurement points", [50, 100, 200, 400]),
    "hidden": ("weights", [(25, 25), (50, 50), (100, 100), (200, 200)]),
    "outputs": ("outputs", [1, 2, 4, 8]),
}


def growth() -> dict[str, dict[str, list[float]]]:
    """Milliseconds per step for each size and both covariance families."""
    table: dict[str, dict[str, list[float]]] = {}
    for name, (_, sizes) in GROWTH.items():
        table[name] = {"size": []}
        for size in sizes:
            base = {"batch": 1000, "points": 100, name: size}
            settings = {c: Setting.of(covariance=c(), **base) for c in (Diagonal, Kronecker)}
            calls = {c.__name__: gradient_of(objective(s), s.model) for c, s in settings.items()}
            for family, seconds in interleaved_seconds(calls, repeats=2).items():
                table[name].setdefault(family, []).append(1e3 * seconds)
            weights = sum(p.size for p in settings[Diagonal].model.function.params)
            table[name]["size"].append(weights if name == "hidden" else size)
    return table


def draw(table: dict[str, dict[str, list[float]]], path: str) -> None:
    """Draw four panels, one per kind of size, each with both families."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 4, figsize=(13, 3.2), sharey=True, layout="constrained")
    for axes, (name, columns) in zip(panels, table.items(), strict=True):
        axes.loglog(columns["size"], columns["Diagonal"], "o-", color="#d55e00", label="diagonal")
        axes.loglog(columns["size"], columns["Kronecker"], "s-", color="#0072b2", label="kronecker")
        axes.set_xticks(columns["size"], [f"{size:,}" for size in columns["size"]])
        axes.minorticks_off()
        axes.set_xlabel(GROWTH[name][0])
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("milliseconds per step")
    panels[0].legend()
    figure.suptitle("Value and gradient of the objective (1000 rows, 100 points, MLP 13-100-100-1)")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the ratios, or draw the growth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--picture", help="draw the growth of cost to this file")
    arguments = parser.parse_args()
    with jax.enable_x64(True):
        if arguments.picture:
            draw(growth(), arguments.picture)
            print(f"growth of cost drawn to {arguments.picture}")
            return
        result = ratios()
    if arguments.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(name, value)


if __name__ == "__main__":
    main()
