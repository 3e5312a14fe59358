"""`gfsvi list`."""

import argparse
from pathlib import Path

from gfsvi import registry

EXPERIMENTS = "experiments"


def collections() -> tuple[str, ...]:
    """What can be listed: what is known by name, and the experiments of this folder."""
    return (*registry.collections(), EXPERIMENTS)


def run(arguments: argparse.Namespace) -> int:
    """Print the names of a collection, or of all, with a sentence each."""
    chosen = collections() if arguments.collection is None else [arguments.collection]
    for number, collection in enumerate(chosen):
        if len(chosen) > 1:
            print(f"{'' if number == 0 else chr(10)}{collection}")
        is_folder = collection == EXPERIMENTS
        described = _experiments() if is_folder else registry.describe(collection)
        width = max(map(len, described), default=0)
        for name, sentence in described.items():
            print(f"  {name:<{width}}  {sentence}")
    return 0


def _experiments() -> dict[str, str]:
    """The title of each experiment in the folder of that name, if there is one here."""
    from gfsvi.bench.experiment import Experiment

    paths = sorted(Path(EXPERIMENTS).glob("*.toml"))
    return {str(path): Experiment.read(path).title for path in paths}
