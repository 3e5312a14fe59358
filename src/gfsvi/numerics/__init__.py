"""Linear algebra, precision, constraints, compilation and threads: the lowest layer."""
