"""`gfsvi list`."""

import argparse

from gfsvi import registry


def run(arguments: argparse.Namespace) -> int:
    """Print the names of a collection, or of all, with a sentence each."""
    chosen = registry.collections() if arguments.collection is None else [arguments.collection]
    for number, collection in enumerate(chosen):
        if len(chosen) > 1:
            print(f"{'' if number == 0 else chr(10)}{collection}")
        described = registry.describe(collection)
        width = max(map(len, described), default=0)
        for name, sentence in described.items():
            print(f"  {name:<{width}}  {sentence}")
    return 0
