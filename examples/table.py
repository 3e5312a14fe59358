"""A real table, from nothing to predictions that say when not to trust them: `make demo`.

The diabetes study that ships with scikit-learn: 442 patients, ten measurements, and a measure
of how the disease had progressed a year later.
"""

import time
from pathlib import Path

import jax
import matplotlib
import numpy as np
from sklearn.datasets import load_diabetes

from gfsvi import Data, Model, Training, metrics
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, EmpiricalBayes
from gfsvi.predictives import NormalPredictive

PICTURE = Path("build/demo.png")


def main() -> None:
    """Fit, score, draw."""
    start = time.perf_counter()
    table = load_diabetes()
    order = np.random.default_rng(0).permutation(len(table.target))
    test, held_out, train = order[:88], order[88:123], order[123:]
    x = (table.data - table.data[train].mean(0)) / table.data[train].std(0)
    centre, spread = table.target[train].mean(), table.target[train].std()
    y = (table.target - centre) / spread
    data, validation = Data(x[train], y[train]), Data(x[held_out], y[held_out])
    key = jax.random.key(0)

    print(f"{len(train)} patients to learn from, {len(test)} to test on")
    prior = Model(GaussianProcess(Matern52(np.full(10, 10**0.5))), Normal(0.5))
    prior = EmpiricalBayes()(prior, data, key=key).posterior
    method = GFSVI(training=Training(num_steps=200))
    posterior = method(prior, data, key=key, validation=validation).posterior
    predictive = posterior.predict(x[test]).rescaled(spread, centre)
    truth = table.target[test]
    baseline = np.mean((truth - centre) ** 2) ** 0.5

    error = metrics.mse(predictive, truth) ** 0.5
    print(f"root mean squared error  {error:.1f}  (predicting the mean: {baseline:.1f})")
    print(f"log predictive density   {metrics.log_predictive_density(predictive, truth):.3f}")
    print(f"expected log-likelihood  {metrics.expected_log_likelihood(predictive, truth):.3f}")
    print(f"95 % intervals cover     {100 * metrics.coverage(predictive, truth):.0f} % of them")
    draw(predictive, truth, PICTURE)
    print(f"done in {time.perf_counter() - start:.0f} s; the picture is {PICTURE}")


def draw(predictive: NormalPredictive, truth: np.ndarray, path: Path) -> None:
    """Predicted against actual, with 95 % intervals."""
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    low, high = predictive.interval(0.95)
    order = np.argsort(predictive.mean)
    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    position = np.arange(len(order))
    axes.vlines(position, low[order], high[order], color="#56b4e9", lw=3, label="95 % interval")
    axes.plot(position, predictive.mean[order], color="#0072b2", label="predicted")
    axes.plot(position, truth[order], ".", color="#d55e00", label="actual")
    axes.set_xlabel("test patient, ordered by prediction")
    axes.set_ylabel("disease progression")
    axes.legend(loc="upper left")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
