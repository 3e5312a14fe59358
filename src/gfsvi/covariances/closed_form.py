"""The best covariance, computed instead of trained."""

import equinox as eqx

from gfsvi.covariances.base import AbstractFamily

EPS = 1.0
"""Of the mean variance of the tangent kernel: what is added to its diagonal by default."""


class ClosedForm(AbstractFamily):
    """The covariance that maximises the objective, computed in one factorisation.

    Under a Gaussian-process prior, and given the weights at which the network is linearised, the
    best Gaussian has a closed form (see `gfsvi.inference.conjugate`). Training inputs are among
    its measurement points: all of them, or some that represent all.

    Args:
        max_rows: The number of training inputs to use as measurement points.
        eps: Regularises the tangent kernel, as a share of its mean variance; larger values leave
            more of the interpolation between points to the prior.
    """

    max_rows: int = eqx.field(static=True, default=1000)
    eps: float = eqx.field(static=True, default=EPS)

    def rows_as_points(self, num_outputs: int) -> int:
        """How many training inputs are measurement points: each output has a matrix over them."""
        return max(200, round(self.max_rows / num_outputs**0.5))
