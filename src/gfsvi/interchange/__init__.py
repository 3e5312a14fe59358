"""What other programs give and take: tables of predictions, models of MLflow, draws for ArviZ."""

# Nothing is imported here: `gfsvi predict` makes its table without importing JAX.
