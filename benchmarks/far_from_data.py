"""What a fit says far from its data, beside the exact process and the prior.

python -m benchmarks.far_from_data --json [--data DIR] [--output results/far_from_data.json]

DIR holds regression/NAME.npz and science/co2.csv. Three questions:

- `readme`: the standard deviation of the README's first example at (1.5, 1.5) and (3, 3), and that
  of the exact process under the same prior and noise.
- `tables`: for rows of five tables, moved by 3 and by 10 standard deviations in every feature, the
  median standard deviation of the function as a share of the prior's, that of the exact process
  under the same prior and noise, and the median novelty. Of the network alone: a mixture with trees
  has no single prior.
- `mauna_loa`: trend, season and decay as a kernel, CO2 until 1990 and the ten years after it: the
  log predictive density of GFSVI and of the exact process, and what the diagnostics say.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import numpy as np

from gfsvi import Data, GFSVIRegressor, Model
from gfsvi.auto import Fitted
from gfsvi.diagnostics import diagnose
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF, Matern52, Periodic, RationalQuadratic
from gfsvi.kernels.in_numpy import kernel_in_numpy
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, EmpiricalBayes, ExactGP
from gfsvi.metrics import log_predictive_density
from gfsvi.plain.posterior import share_left

TABLES = ("boston", "concrete", "energy", "wine", "yacht")
KEY = jax.random.key(0)


def readme() -> dict[str, list[float]]:
    """The README's first example away from its data."""
    x = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    data = Data(x, np.sin(3 * x[:, 0]) + 0.1 * x[:, 1])
    prior = Model(GaussianProcess(Matern52()), Normal())
    prior = EmpiricalBayes()(prior, data, key=KEY).posterior
    posterior = GFSVI()(prior, data, key=KEY).posterior
    noise = Model(prior.function, posterior.likelihood)
    exact = ExactGP(num_starts=0)(noise, data, key=KEY).posterior
    places = np.array([[1.5, 1.5], [3.0, 3.0]])
    return {
        name: np.asarray(model.predict(places).epistemic_std).tolist()
        for name, model in (("ours", posterior), ("exact", exact))
    }


def table(x: np.ndarray, y: np.ndarray) -> dict[str, dict[str, float]]:
    """Standard deviations and novelty at rows moved away from a table."""
    fitted = GFSVIRegressor(prior_mean=None, random_state=0).fit(x, y).fitted_
    prior = float(np.sqrt(fitted.posterior.function.prior.kernel.variance))
    found = {}
    for distance in (3, 10):
        rows = fitted.standardized(x) + distance
        std = np.sqrt(fitted.posterior.function.marginals_in_numpy(rows).variance)
        novelty = fitted.novelty_measure.at(rows)
        found[f"{distance} std"] = {
            "share_of_prior_std": float(np.median(std) / prior),
            "exact": float(np.median(exact_std(fitted, fitted.standardized(x), rows)) / prior),
            "novelty": float(np.median(novelty)),
        }
    return found


def exact_std(fitted: Fitted, known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The standard deviation of the exact process that has seen these rows."""
    kernel = kernel_in_numpy(fitted.posterior.function.prior.kernel)
    if kernel is None:
        raise ValueError("expected an RBF or Matern kernel; got another.")
    noise = float(np.mean(fitted.posterior.likelihood.noise))
    factor = np.linalg.cholesky(kernel.gram(known) + noise**2 * np.eye(len(known)))
    return np.sqrt(kernel.diagonal(rows) * share_left(kernel, known, factor, rows))


def mauna_loa(path: Path) -> dict[str, Any]:
    """A textbook kernel under a network."""
    years, co2 = _monthly(path)
    known = years < 1990
    later = (years >= 1990) & (years < 2000)
    centre, spread = co2[known].mean(), co2[known].std()
    x, y = years[:, None] - years[known].mean(), (co2 - centre) / spread
    season = RBF(90.0, 0.02) * Periodic(lengthscale=1.3, period=1.0)
    kernel = RBF(50.0, 10.0) + season + RationalQuadratic(1.2, 0.003, 0.78)
    data, test = Data(x[known], y[known]), Data(x[later], y[later])
    blank = Model(GaussianProcess(kernel), Normal(0.02))
    exact = ExactGP(num_starts=1)(blank, data, key=KEY).posterior
    prior = Model(exact.function.prior, exact.likelihood)
    fit = GFSVI(gamma=1e-10)(prior, data, key=KEY)
    said = diagnose(prior, fit.posterior, data, method=GFSVI(), history=fit.history, key=KEY)
    scores = {
        name: float(log_predictive_density(model.predict(test.x), test.y))
        for name, model in (("ours", fit.posterior), ("exact", exact))
    }
    return scores | {"diagnostics": [f"{d.severity}: {d.title}" for d in said]}


def _monthly(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Years with fractions, and monthly means of the weekly values."""
    import pandas as pd

    frame = pd.read_csv(path)
    date, value = frame.columns[:2]
    frame[date] = pd.to_datetime(frame[date].astype(str))
    means = frame.set_index(date)[value].astype(float).resample("MS").mean().dropna()
    years = means.index.year + (means.index.month - 0.5) / 12
    return np.asarray(years, np.float64), means.to_numpy()


def main() -> None:
    """Print or write the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--data", type=Path, required=True, help="folder of the data")
    parser.add_argument("--output", type=Path, help="also write the JSON object to this file")
    arguments = parser.parse_args()
    found: dict[str, Any] = {"readme": readme(), "tables": {}}
    for name in TABLES:
        with np.load(arguments.data / "regression" / f"{name}.npz", allow_pickle=False) as file:
            found["tables"][name] = table(file["X"], file["y"])
    found["mauna_loa"] = mauna_loa(arguments.data / "science" / "co2.csv")
    text = json.dumps(found, indent=1)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n")
    print(json.dumps(found) if arguments.json else text)


if __name__ == "__main__":
    main()
