"""Fits of our network alone, as `benchmarks.peers_script` has those of its peers, and by default.

python -m benchmarks.peers_ours ROWS.npz SEED
"""

import json
import sys
import time

import numpy as np

from gfsvi.estimators import GFSVIRegressor


def main(path: str, seed: str) -> None:
    """Fit twice, then with trees; print seconds, scores and the widths of the hidden layers."""
    with np.load(path, allow_pickle=False) as file:
        x, y, x_test, y_test = (file[f"{a}_{b}"] for b in ("train", "test") for a in "xy")
    regressor, found = GFSVIRegressor(random_state=int(seed), prior_mean=None), {}
    fits = {"first": regressor, "second": regressor}
    for which, fitted in (fits | {"default": GFSVIRegressor(random_state=int(seed))}).items():
        start = time.perf_counter()
        fitted.fit(x, y)
        found[which] = time.perf_counter() - start
    scores = regressor.fitted_.evaluate(x_test, y_test)
    spread = float(np.std(y))  # the scale of the peers, whatever ours standardises by
    record = {
        "seconds": found,
        "log_predictive_density": scores["log_predictive_density"] + float(np.log(spread)),
        "rmse": scores["mse"] ** 0.5 / spread,
        "hidden": regressor.settings_.hidden,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main(*sys.argv[1:])
