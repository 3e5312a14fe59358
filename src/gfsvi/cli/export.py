"""`gfsvi export`."""

import argparse

from gfsvi.cli.outputs import check_outputs


def run(arguments: argparse.Namespace) -> int:
    """Write a program of JAX that predicts what a model predicts."""
    check_outputs({"--output": arguments.output}, {"the model": arguments.model})
    from gfsvi.auto import Fitted
    from gfsvi.auto.exporting import export

    fitted = Fitted.load(arguments.model)
    export(fitted, arguments.output)
    print(f"program: {arguments.output}")
    print(f"inputs: {', '.join(fitted.feature_names)}")
    return 0
