"""A fit as a graph of ONNX, which many runtimes evaluate without Python."""

from os import PathLike
from typing import TYPE_CHECKING, Any

from gfsvi.auto.exporting import QUANTILES
from gfsvi.auto.fitted import Fitted
from gfsvi.portable.predictor import PortablePredictor
from gfsvi.storage.files import write_bytes

if TYPE_CHECKING:
    from gfsvi.portable.onnx_ops import Value

ABOUT = (
    "x: rows of numbers in the order of the features {names}. Outputs: mean and std of an "
    "observation, epistemic_std (what more data would reduce), lower and upper ends of an interval "
    "of probability {level:g}, and quantiles {quantiles}."
)


def exported_onnx(model: Fitted | Any, quantiles: tuple[float, ...] = QUANTILES) -> bytes:
    """The graph that predicts any number of rows, serialised.

    It maps `x` (row, feature) of float64, in the order of `feature_names`, to `mean`, `std`,
    `epistemic_std`, `lower` and `upper`, each (row,) or (row, target), and `quantiles` (row, level)
    or, for several targets, `quantiles_<target>`.
    """
    from gfsvi.portable.onnx_ops import OnnxOps, Value  # needs a package that no extra installs

    fitted: Fitted = getattr(model, "fitted_", model)
    predictor = PortablePredictor.of(fitted, "exporting to ONNX")
    ops = OnnxOps()
    found = predictor.predicted(ops, Value(ops, "x"), quantiles)
    outputs: "dict[str, tuple[Value, list[int | str]]]" = {}
    for name in ("mean", "std", "epistemic_std", "lower", "upper"):
        columns = [output[name] for output in found]
        if len(columns) == 1:
            outputs[name] = (ops.without_columns(columns[0]), ["row"])
        else:
            outputs[name] = (ops.joined(columns), ["row", len(columns)])
    for number, output in enumerate(found):
        name = "quantiles" if len(found) == 1 else f"quantiles_{number + 1}"
        outputs[name] = (output["quantiles"], ["row", len(quantiles)])
    names = ", ".join(fitted.feature_names)
    about = ABOUT.format(names=names, level=fitted.level, quantiles=quantiles)
    return ops.model(len(fitted.feature_names), outputs, about)


def export_onnx(
    model: Fitted | Any, path: str | PathLike[str], quantiles: tuple[float, ...] = QUANTILES
) -> None:
    """Write the graph that predicts rows to one file of ONNX.

    Args:
        model: A fitted estimator, or a `Fitted`, of numbers.
        path: The file to write.
        quantiles: Probabilities of the quantiles that it predicts beside mean and interval.
    """
    write_bytes(path, exported_onnx(model, quantiles))
