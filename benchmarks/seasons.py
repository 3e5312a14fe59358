"""The future of a table with dates: carbon dioxide at Mauna Loa, ten years ahead.

python -m benchmarks.seasons CO2.csv [--until 1990] [--years 10] [--json]

The table has a column `date` and a column `co2`, a row per week, as in statsmodels' data set `co2`.
Rows before `--until` are learned from, by the defaults of `gfsvi fit` (which hold the latest tenth
out), by the same with all of them, and by an exact Gaussian process with the kernel of textbooks
(Rasmussen and Williams 2006, 5.4.3; scikit-learn, on every fourth row), its parameters chosen by
evidence. All predict the years that follow.
"""

import argparse
import json
import time
import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, RationalQuadratic, WhiteKernel

from gfsvi.auto import Learner
from gfsvi.auto.parameters import Parameters
from gfsvi.predictives import NormalPredictive
from gfsvi.tables import Preparation

YEAR = 365.2425


class Result(NamedTuple):
    """How a method predicts the years that follow, and the seconds of processing it took."""

    method: str
    mean_absolute_error: float
    coverage: float
    log_density: float
    mean_width: float
    seconds: float


def judged(method: str, predictive: Any, y: np.ndarray, seconds: float) -> Result:
    """Compare predictions with what was observed."""
    low, high = predictive.interval(0.95)
    return Result(
        method,
        float(np.mean(np.abs(y - predictive.mean))),
        float(np.mean((low <= y) & (y <= high))),
        float(np.mean(predictive.log_prob(y))),
        float(np.mean(high - low)),
        seconds,
    )


def ours(method: str, held_out: Literal["auto", "none"], known: Any, later: Any) -> Result:
    """What `gfsvi fit` learns from a table."""
    began = time.process_time()
    preparation = Preparation.learn(known, "co2")
    learner = Learner("regression", Parameters(random_state=0, held_out=held_out))
    fitted = learner.learn_table(preparation.prepare(known), preparation)
    seconds = time.process_time() - began
    return judged(method, fitted.predict(later), later.co2.to_numpy(), seconds)


def textbook(known: Any, later: Any) -> Result:
    """An exact Gaussian process with a long trend, a season, irregularities and noise."""
    began = time.process_time()
    rows = known.iloc[::4]
    x, y = _years(rows), rows.co2.to_numpy()
    season = 2.0**2 * RBF(100.0) * ExpSineSquared(1.0, 1.0, periodicity_bounds="fixed")
    irregular = 0.5**2 * RationalQuadratic(alpha=1.0, length_scale=1.0)
    noise = 0.1**2 * RBF(0.1) + WhiteKernel(0.1**2, (1e-5, 1e5))
    process = GaussianProcessRegressor(50.0**2 * RBF(50.0) + season + irregular + noise)
    process.fit(x, y - y.mean())
    predicted: Any = process.predict(_years(later), return_std=True)
    mean, std = predicted
    seconds = time.process_time() - began
    predictive = NormalPredictive(mean + y.mean(), 0 * mean, std**2)
    return judged("exact process, kernel of textbooks", predictive, later.co2.to_numpy(), seconds)


def _years(table: Any) -> np.ndarray:
    times = pd.to_datetime(table.date.astype(str))
    return ((times - pd.Timestamp("1958-01-01")).dt.days.to_numpy() / YEAR)[:, None]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", metavar="CO2.csv")
    parser.add_argument("--until", type=int, default=1990)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    table: Any = pd.read_csv(given.table).dropna()
    year: Any = pd.to_datetime(table.date.astype(str)).dt.year
    known = table[year < given.until]
    later = table[(year >= given.until) & (year < given.until + given.years)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = [
            ours("gfsvi, its latest tenth held out", "auto", known, later),
            ours("gfsvi, all rows", "none", known, later),
            textbook(known, later),
        ]
    if given.json:
        print(json.dumps([result._asdict() for result in results]))
        return
    print(f"{'':36}{'error':>8}{'coverage':>10}{'log density':>13}{'width':>8}{'seconds':>9}")
    for name, error, coverage, density, width, seconds in results:
        print(f"{name:36}{error:8.2f}{coverage:10.3f}{density:13.2f}{width:8.1f}{seconds:9.1f}")


if __name__ == "__main__":
    main()
