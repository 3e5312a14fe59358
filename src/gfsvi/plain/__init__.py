"""Kernels and networks of the default fit in NumPy, with the derivatives that fitting needs.

JAX compiles a program for every shape, which for a small table takes longer than the arithmetic.
The formulas are those of `gfsvi.kernels` and `gfsvi.networks` once more; `tests/plain` holds them
equal.
"""
