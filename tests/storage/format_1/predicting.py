"""Predicts with the files of format 1, saves them again, and predicts with the copies.

The tests run this as a script, because their settings of JAX would change the last bits:
`python predicting.py FOLDER` writes `probe.npz`, `loaded.npz` and `saved_again.npz` to the folder.
"""

import itertools
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import jaxlib
import numpy as np
import pandas as pd
import scipy
import scipy.special

import gfsvi

HERE = Path(__file__).parent
Arrays = dict[str, np.ndarray]


def main(folder: Path) -> None:
    """Write the probe, the predictions of the files, and those of their copies."""
    regressor, classifier = _loaded(HERE)
    regressor.save(folder / "regressor.gfsvi")
    classifier.save(folder / "classifier.gfsvi")
    np.savez(folder / "probe.npz", **probe())
    np.savez(folder / "loaded.npz", **_predictions(regressor, classifier))
    np.savez(folder / "saved_again.npz", **_predictions(*_loaded(folder)))


def probe() -> Arrays:
    """Arithmetic whose last bits depend on the processor, XLA and LAPACK, not on this library."""
    packages = (jax, jaxlib, np, scipy)
    versions = [f"{package.__name__} {package.__version__}" for package in packages]
    return {
        "versions": np.array(versions),
        **_network_probe(),
        **_process_probe(),
        **_functions_probe(),
    }


def _network_probe() -> Arrays:
    """A tanh network in single precision, and its derivative by the inputs."""
    random = np.random.default_rng(0)
    sizes = (6, 50, 50, 1)
    weights = [
        random.normal(size=shape).astype(np.float32) / shape[0] ** 0.5
        for shape in itertools.pairwise(sizes)
    ]

    def network(x: jax.Array) -> jax.Array:
        for weight in weights[:-1]:
            x = jnp.tanh(x @ weight)
        return x @ weights[-1]

    x, direction = random.normal(size=(2, 40, 6)).astype(np.float32)
    value, derivative = jax.jit(lambda x, t: jax.jvp(network, (x,), (t,)))(x, direction)
    return {"value": np.asarray(value), "derivative": np.asarray(derivative)}


def _process_probe() -> Arrays:
    """A solve with the Cholesky factor of a Gram matrix in double precision."""
    x = np.random.default_rng(1).normal(size=(70, 4))

    @jax.jit
    def solved(x: jax.Array) -> jax.Array:
        squared = jnp.sum((x[:, None] - x) ** 2, axis=-1)
        factor = jnp.linalg.cholesky(jnp.exp(-squared / 2) + 0.1 * jnp.eye(len(x)))
        return jax.scipy.linalg.solve_triangular(factor, jnp.sin(x), lower=True)

    with jax.enable_x64(True):
        return {"solution": np.asarray(solved(x))}


def _functions_probe() -> Arrays:
    """Functions of NumPy and SciPy that predictives are computed with."""
    x = np.random.default_rng(2).normal(size=200)
    functions = (np.exp, np.sinh, np.cosh, np.arcsinh, scipy.special.ndtr)
    quantiles = scipy.special.ndtri(scipy.special.ndtr(x))
    return {"functions": np.stack([function(x) for function in functions]), "quantiles": quantiles}


def _loaded(folder: Path) -> tuple[gfsvi.GFSVIRegressor, gfsvi.GFSVIClassifier]:
    return gfsvi.load(folder / "regressor.gfsvi"), gfsvi.load(folder / "classifier.gfsvi")


def _predictions(regressor: gfsvi.GFSVIRegressor, classifier: gfsvi.GFSVIClassifier) -> Arrays:
    rows = pd.read_csv(HERE / "rows.csv")
    numbers, labels = regressor.predict_distribution(rows), classifier.predict_distribution(rows)
    low, high = numbers.interval(0.9)
    predicted = {
        "mean": numbers.mean,
        "std": numbers.std,
        "low": low,
        "high": high,
        "novelty": regressor.novelty(rows),
        "probabilities": labels.probabilities,
        "entropy": labels.entropy,
        "class_novelty": classifier.novelty(rows),
    }
    return {name: np.asarray(array) for name, array in predicted.items()}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
