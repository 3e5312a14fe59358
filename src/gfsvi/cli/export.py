"""`gfsvi export`."""

import argparse
from pathlib import Path

from gfsvi.cli.outputs import check_outputs


def run(arguments: argparse.Namespace) -> int:
    """Write a program of JAX, or a graph of ONNX, that predicts what a model predicts."""
    check_outputs({"--output": arguments.output}, {"the model": arguments.model})
    from gfsvi.auto import Fitted

    if Path(arguments.output).suffix.lower() == ".onnx":
        from gfsvi.portable.onnx_graph import export_onnx as export
    else:
        from gfsvi.auto.exporting import check_exporting, export

        check_exporting()
    fitted = Fitted.load(arguments.model)
    export(fitted, arguments.output)
    print(f"program: {arguments.output}")
    print(f"inputs: {', '.join(fitted.feature_names)}")
    return 0
