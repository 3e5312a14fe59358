"""`gfsvi list`."""

import argparse
from pathlib import Path

from gfsvi import registry

EXPERIMENTS, METHODS = "experiments", "methods"


def collections() -> tuple[str, ...]:
    """The collections that can be listed, and the experiments in this folder."""
    return (*registry.collections(), EXPERIMENTS)


def run(arguments: argparse.Namespace) -> int:
    """Print the names in one collection, or in all of them, with a sentence each."""
    chosen = collections() if arguments.collection is None else [arguments.collection]
    for number, collection in enumerate(chosen):
        if len(chosen) > 1:
            print(f"{'' if number == 0 else chr(10)}{collection}")
        described = _described(collection)
        width = max(map(len, described), default=0)
        for name, sentence in described.items():
            print(f"  {name:<{width}}  {sentence}")
    return 0


def _described(collection: str) -> dict[str, str]:
    """A sentence about each member of a collection."""
    if collection == EXPERIMENTS:
        return _experiments()
    return registry.methods() if collection == METHODS else registry.describe(collection)


def _experiments() -> dict[str, str]:
    """The title of each experiment in the folder `experiments`, if there is one."""
    paths = sorted(Path(EXPERIMENTS).glob("*.toml"))
    if not paths:
        return {}
    from gfsvi.bench.experiment import Experiment  # imports all methods

    return {str(path): Experiment.read(path).title for path in paths}
