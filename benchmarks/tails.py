"""What single rows cost: the least log density of held-out rows, and coverage of 99 % intervals.

python -m benchmarks.tails --data DIR --output results/tails.jsonl [NAME ...]

DIR holds regression/NAME.npz with arrays X and y, and tables/NAME.csv. Five folds of
KFold(5, shuffle=True, random_state=0), or the first one alone for more than 5,000 rows. The density
is that of the target standardised by the training rows; a label has a probability, and no interval.
Beside it stands the least density under a Student-t distribution with four degrees of freedom and
the same interval of 95 %: what heavier tails would have avoided. One line of JSON per fold is
appended; folds that are already in the file are skipped.
"""

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.model_selection import KFold

from benchmarks.recording import append_record, read_records
from gfsvi import GFSVIClassifier, GFSVIRegressor
from gfsvi.tables.reading import TableFile

ARRAYS = ["boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht"]
NUMBERS = {
    "bikes_daily": "cnt",
    "communities": "violent_crimes",
    "cpu": "performance",
    "forestfires": "area",
    "insurance": "charges",
    "qsar_aquatic": "toxicity",
    "skillcraft": "LeagueIndex",
    "treasury": "rate_1month",
    "wankara": "mean_temperature",
    "wine_white": "quality",
}
LABELS = {
    "car": "acceptability",
    "german_credit": "credit",
    "glass": "type",
    "hypothyroid": "diagnosis",
    "yeast": "site",
}
PARTS_OF_TARGET = {"bikes_daily": ["casual", "registered"]}
MANY_ROWS = 5000
FAR = -20.0
"""A log density that a single row should not have."""
LEVEL, WANTED = 0.99, 0.975
FREEDOM = 4.0


def table_of(name: str, folder: Path) -> tuple[pd.DataFrame, str]:
    """A table and the name of its target."""
    if name in ARRAYS:
        arrays = np.load(folder / "regression" / f"{name}.npz")
        frame = pd.DataFrame(arrays["X"], columns=[f"x{i}" for i in range(arrays["X"].shape[1])])
        return frame.assign(y=arrays["y"]), "y"
    frame = TableFile(folder / "tables" / f"{name}.csv").frame()
    return frame.drop(columns=PARTS_OF_TARGET.get(name, [])), (NUMBERS | LABELS)[name]


def run(frame: pd.DataFrame, target: str, fold: int, *, labels: bool) -> dict[str, Any]:
    """Fit the training rows of a fold, and look at each held-out row."""
    train, test = list(KFold(5, shuffle=True, random_state=0).split(frame))[fold]
    began = time.perf_counter()
    estimator = (GFSVIClassifier if labels else GFSVIRegressor)(random_state=fold)
    estimator.fit_table(frame.iloc[train], target)
    seconds, rows = time.perf_counter() - began, frame.iloc[test]
    found = _of_labels(estimator, rows, target) if labels else _of_numbers(estimator, rows, target)
    return {"seconds": seconds, **found}


def _of_labels(estimator: Any, rows: pd.DataFrame, target: str) -> dict[str, Any]:
    places = {str(label): place for place, label in enumerate(estimator.classes_)}
    labels = [str(label) for label in rows[target]]
    known = [place for place, label in enumerate(labels) if label in places]  # others are new
    predictive = estimator.predict_distribution(rows.drop(columns=target).iloc[known])
    y = np.array([places[labels[place]] for place in known])
    return _of_densities(np.asarray(predictive.log_prob(y)))


def _of_numbers(estimator: Any, rows: pd.DataFrame, target: str) -> dict[str, Any]:
    predictive = estimator.predict_distribution(rows.drop(columns=target))
    y, log_spread = rows[target].to_numpy(float), np.log(estimator.fitted_.target.spread)
    low, high = (np.asarray(end) for end in predictive.interval(LEVEL))
    return {
        **_of_densities(np.asarray(predictive.log_prob(y)) + log_spread),
        "least_student_t": float(np.min(_with_heavy_tails(predictive, y) + log_spread)),
        "coverage_99": float(np.mean((low <= y) & (y <= high))),
    }


def _of_densities(densities: np.ndarray) -> dict[str, Any]:
    return {
        "rows": len(densities),
        "mean": float(np.mean(densities)),
        "least": float(np.min(densities)),
        "below_20": int(np.sum(densities < FAR)),
    }


def _with_heavy_tails(predictive: Any, y: np.ndarray) -> np.ndarray:
    """Log densities under a Student-t distribution with the interval of 95 % of a predictive."""
    low, high = (np.asarray(end) for end in predictive.interval(0.95))
    scale = np.maximum(high - low, 1e-300) / (2 * stats.t.ppf(0.975, FREEDOM))
    return stats.t.logpdf(y, FREEDOM, (low + high) / 2, scale)


def print_summary(records: list[dict[str, Any]]) -> None:
    """A line per table, and the mean coverage over tables."""
    names = list(dict.fromkeys(record["dataset"] for record in records))
    print(f"{'table':<14} {'rows':>6} {'mean':>7} {'least':>8} {'below -20':>9} {'99 %':>6}")
    means = []
    for name in names:
        folds = [record for record in records if record["dataset"] == name]
        rows, below = (sum(fold[key] for fold in folds) for key in ("rows", "below_20"))
        mean, least = np.mean([f["mean"] for f in folds]), min(f["least"] for f in folds)
        covered = [fold["coverage_99"] for fold in folds if "coverage_99" in fold]
        means += [np.mean(covered)] if covered else []
        told = f"{np.mean(covered):6.3f}" if covered else f"{'':6}"
        print(f"{name:<14} {rows:6} {mean:7.3f} {least:8.1f} {below:9} {told}")
    if means:
        print(f"coverage of 99 % intervals: {np.mean(means):.3f} on average, wanted {WANTED}")


def main() -> None:
    """Run the folds that are missing and print a line per table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="tables; all of them if none is named")
    parser.add_argument("--data", required=True, type=Path)
    parser.add_argument("--output", required=True, type=Path, help="records, one line per fold")
    parser.add_argument("--folds", type=int, default=5, help="at most so many of each table")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    records = read_records(arguments.output)
    for name in arguments.names or [*ARRAYS, *NUMBERS, *LABELS]:
        frame, target = table_of(name, arguments.data)
        for fold in range(1 if len(frame) > MANY_ROWS else arguments.folds):
            if any((r["dataset"], r["fold"]) == (name, fold) for r in records):
                continue
            found = run(frame, target, fold, labels=name in LABELS)
            record = {"dataset": name, "fold": fold, **found}
            records.append(record)
            append_record(arguments.output, record)
    print_summary(records)


if __name__ == "__main__":
    main()
