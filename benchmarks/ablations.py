"""What ingredients of a default fit to numbers are worth, on validation parts of training folds.

GFSVI_DATA=DIR python -m benchmarks.ablations --output FILE.jsonl [--parts 2] [NAME ...]

Each variant leaves out or replaces one thing; fits are those of `benchmarks.validation_parts`, so
that test rows are never looked at. Fits that are in the file are skipped; at the end a table of
Markdown is printed: the differences from the first variant, averaged over tables and parts, with
standard errors. Without trees, differences are those from the network alone.
"""

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.recording import Record, append_record, read_records
from benchmarks.validation_parts import measured
from gfsvi.inference.tails import NO_TAILS

NAMES = ("cpu", "yacht", "boston", "qsar_aquatic")
FOLD = 0


class Variant(NamedTuple):
    """Parameters of the estimators and constants of modules that differ from the defaults."""

    settings: dict[str, Any] = {}  # noqa: RUF012 - never changed
    constants: dict[str, Any] = {}  # noqa: RUF012


def no_length_prior(_: Any, logs: np.ndarray, num_features: int) -> tuple[float, np.ndarray]:
    """Of length scales nothing is thought before the rows are seen."""
    return 0.0, np.zeros_like(logs)


ALONE = {"prior_mean": None}
DEFAULT, NETWORK = "the default", "no trees: the network alone"
VARIANTS = {
    DEFAULT: Variant(),
    NETWORK: Variant(ALONE),
    "no noise function": Variant(ALONE, {"gfsvi.inference.noise_shape:FEWEST_ROWS": 10**9}),
    "no tails": Variant(ALONE, {"gfsvi.inference.tails:DEGREES_OF_FREEDOM": (NO_TAILS,)}),
    "one level of normal noise": Variant(ALONE | {"likelihood": "normal"}),
    "no prior of length scales": Variant(
        ALONE, {"gfsvi.inference.length_prior:LengthPrior.log_density": no_length_prior}
    ),
    "RBF kernel instead of the best of three": Variant(ALONE | {"kernel": "rbf"}),
    "network of 20 units": Variant(ALONE | {"hidden": [20]}),
    "network that is hardly trained": Variant(ALONE | {"num_steps": 5}),
    "three members": Variant(ALONE | {"members": 3}),
}


def differences(records: list[Record], variant: str, metric: str) -> np.ndarray:
    """Of a variant from the network alone, or of that from the default, table by table."""
    than = DEFAULT if variant == NETWORK else NETWORK
    found = {(one["variant"], one["dataset"], one["part"]): one[metric] for one in records}
    places = sorted((name, part) for which, name, part in found if which == variant)
    return np.array(
        [
            found[variant, *place] - found[than, *place]
            for place in places
            if (than, *place) in found
        ]
    )


def table_of(records: list[Record]) -> str:
    """Mean differences with standard errors, in Markdown."""
    lines = [
        "| variant | log density | CRPS | squared error, ratio | fits |",
        "|---|---|---|---|---|",
    ]
    for variant in list(VARIANTS)[1:]:
        density, crps = (differences(records, variant, m) for m in METRICS[:2])
        if len(density) < 2:
            continue
        logs = [one | {"mse": np.log(one["mse"])} for one in records]
        ratio = np.exp(np.mean(differences(logs, variant, "mse")))
        shown = " | ".join(f"{np.mean(d):+.3f} ± {_error(d):.3f}" for d in (density, crps))
        lines.append(f"| {variant} | {shown} | {ratio:.2f} | {len(density)} |")
    return "\n".join(lines)


METRICS = ("log_predictive_density", "crps", "mse", "coverage", "cpu_seconds")


def _error(values: np.ndarray) -> float:
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def _record(variant: str, name: str, part: int) -> Record:
    found = measured(name, FOLD, part, *VARIANTS[variant])
    where = {"variant": variant, "dataset": name, "fold": FOLD, "part": part}
    return where | {metric: found[metric] for metric in METRICS}


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", default=list(NAMES))
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--parts", type=int, default=2)
    given = parser.parse_args()
    done = {(one["variant"], one["dataset"], one["part"]) for one in read_records(given.output)}
    for part in range(given.parts):
        for name in given.names:
            for variant in VARIANTS:
                if (variant, name, part) not in done:
                    append_record(given.output, _record(variant, name, part))
    print(table_of(read_records(given.output)))


if __name__ == "__main__":
    main()
