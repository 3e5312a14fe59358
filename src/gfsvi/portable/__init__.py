"""The closed-form predictor in operations that other frameworks have: PyTorch and ONNX.

Formulas are written once, on operations (`portable.ops`), and evaluated by PyTorch with gradients
or written to a graph of ONNX; `tests/portable` holds both equal to the library.
"""
