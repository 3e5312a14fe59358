"""Operations that write a graph of ONNX."""

# pyright: reportMissingImports=false
# onnx is optional.

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from gfsvi.numerics.extras import packages_for
from gfsvi.portable.ops import AbstractOps, Tensor

with packages_for("exporting to ONNX", "onnx"):
    from onnx import TensorProto, helper, numpy_helper

OPSET, IR_VERSION = 17, 8
"""Of 2022, which runtimes of today and of some years ago know."""


class OnnxOps(AbstractOps):
    """Nodes of a graph on matrices of float64, (row, column)."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[tuple[str, bytes, tuple[int, ...]], str] = {}
        self._initializers: list[Any] = []

    def constant(self, values: np.ndarray | float) -> Tensor:
        array = np.asarray(values, np.float64)
        return Value(self, self._kept(array))

    def exp(self, x: Tensor) -> Tensor:
        return self.node("Exp", x)

    def log(self, x: Tensor) -> Tensor:
        return self.node("Log", x)

    def sqrt(self, x: Tensor) -> Tensor:
        return self.node("Sqrt", x)

    def tanh(self, x: Tensor) -> Tensor:
        return self.node("Tanh", x)

    def sin(self, x: Tensor) -> Tensor:
        return self.node("Sin", x)

    def maximum(self, x: Tensor, y: Tensor) -> Tensor:
        return self.node("Max", x, y)

    def total(self, x: Tensor) -> Tensor:
        return self.node("ReduceSum", x, Value(self, self._kept(np.array([1]))), keepdims=1)

    def turned(self, x: Tensor) -> Tensor:
        return self.node("Transpose", x, perm=[1, 0])

    def columns(self, x: Tensor, places: Sequence[int]) -> Tensor:
        chosen = Value(self, self._kept(np.array(list(places), np.int64)))
        return self.node("Gather", x, chosen, axis=1)

    def node(self, kind: str, *inputs: Tensor, **attributes: Any) -> "Value":
        """A node of the graph."""
        name = f"v{len(self._nodes)}"
        names = [value.name for value in inputs]
        self._nodes.append(helper.make_node(kind, names, [name], **attributes))
        return Value(self, name)

    def joined(self, values: Sequence["Value"]) -> "Value":
        """Columns beside each other."""
        return values[0] if len(values) == 1 else self.node("Concat", *values, axis=1)

    def without_columns(self, value: "Value") -> "Value":
        """A matrix of one column as a list of numbers."""
        return self.node("Squeeze", value, Value(self, self._kept(np.array([1]))))

    def model(
        self, num_features: int, outputs: dict[str, tuple["Value", list[int | str]]], about: str
    ) -> bytes:
        """The graph from `x` (row, feature) to these outputs of these shapes, serialised."""
        named = [helper.make_node("Identity", [v.name], [n]) for n, (v, _) in outputs.items()]
        double = TensorProto.DOUBLE
        graph = helper.make_graph(
            [*self._nodes, *named],
            "predictor",
            [helper.make_tensor_value_info("x", double, ["row", num_features])],
            [helper.make_tensor_value_info(n, double, shape) for n, (_, shape) in outputs.items()],
            self._initializers,
        )
        opset = helper.make_opsetid("", OPSET)
        made = helper.make_model(
            graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="gfsvi"
        )
        made.doc_string = about
        return made.SerializeToString()

    def _kept(self, array: np.ndarray) -> str:
        """The name of a constant, which is stored once."""
        array = np.ascontiguousarray(array)
        key = (array.dtype.str, array.tobytes(), array.shape)
        if key not in self._constants:
            name = f"c{len(self._constants)}"
            self._constants[key] = name
            # ascontiguousarray makes a list of one number of a number, which broadcasts alike.
            self._initializers.append(numpy_helper.from_array(array, name))
        return self._constants[key]


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of the graph."""

    ops: OnnxOps
    name: str

    def __add__(self, other: "Value") -> "Value":
        return self.ops.node("Add", self, other)

    def __sub__(self, other: "Value") -> "Value":
        return self.ops.node("Sub", self, other)

    def __mul__(self, other: "Value") -> "Value":
        return self.ops.node("Mul", self, other)

    def __truediv__(self, other: "Value") -> "Value":
        return self.ops.node("Div", self, other)

    def __matmul__(self, other: "Value") -> "Value":
        return self.ops.node("MatMul", self, other)

    def __neg__(self) -> "Value":
        return self.ops.node("Neg", self)
