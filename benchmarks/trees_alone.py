"""Trees of the prior mean without a network, on validation parts of training folds.

GFSVI_DATA=DIR python -m benchmarks.trees_alone [--boosted NAME=VALUE ...]
    [--randomised NAME=VALUE ...] [--parts 2] NAME ...

For every part of the training rows of fold 0: the squared error of boosted and of randomised trees,
in variances of the training targets, and that of their average. `--boosted max_leaf_nodes=63`
changes a parameter of the defaults.
"""

import argparse
import time
import warnings
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from benchmarks.validation_parts import literal, part_of
from gfsvi.bench.data.raw_tables import TableFold, raw_table
from gfsvi.prior_means import default_trees
from gfsvi.tables import Preparation

Rows = tuple[np.ndarray, np.ndarray]


def standardised(part: TableFold) -> tuple[Rows, Rows]:
    """Rows to learn from and rows to predict, targets in deviations of the first."""
    preparation = Preparation.learn(part.train, part.target, "regression")
    known, unseen = (preparation.prepare(rows) for rows in (part.train, part.test))
    centre, spread = np.mean(known.y), np.std(known.y)
    first, second = (
        (np.asarray(rows.x, np.float32), (np.asarray(rows.y) - centre) / spread)
        for rows in (known, unseen)
    )
    return first, second


def errors(known: Rows, unseen: Rows, trees: list[Any]) -> dict[str, float]:
    """Squared errors of rows that were not seen."""
    predicted = np.stack([cast(Any, clone(one)).fit(*known).predict(unseen[0]) for one in trees])
    named = {"boosted": predicted[0], "randomised": predicted[1], "equal": predicted.mean(axis=0)}
    return {name: float(np.mean((values - unseen[1]) ** 2)) for name, values in named.items()}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME")
    parser.add_argument("--boosted", action="append", default=[], type=literal)
    parser.add_argument("--randomised", action="append", default=[], type=literal)
    parser.add_argument("--parts", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.names:
        for part in range(given.parts):
            known, unseen = standardised(part_of(raw_table(name).fold(0), part))
            trees = default_trees(known[0].shape, seed=0)
            for one, changes in zip(trees, (given.boosted, given.randomised), strict=True):
                one.set_params(**dict(changes))
            began = time.process_time()
            found = errors(known, unseen, trees)
            shown = "  ".join(f"{which} {value:.4f}" for which, value in found.items())
            seconds = time.process_time() - began
            print(f"{name} {part} ({len(known[0])} rows)  {shown}  {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
