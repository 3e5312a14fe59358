"""Linear algebra, precision, constraints, compilation and threads: what everything stands on."""
