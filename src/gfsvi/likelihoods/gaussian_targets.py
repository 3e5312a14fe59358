"""The Gaussian regression that stands in for a likelihood when a prior is chosen."""

from typing import NamedTuple

from jaxtyping import Array, Float

from gfsvi.numerics.precision import namespace
from gfsvi.predictives.base import FunctionValues as FunctionValues


class GaussianTargets(NamedTuple):
    """The Gaussian regression that stands in for a likelihood when a prior is chosen.

    `log_factor` has the logarithm of what each row's Gaussian density has to be multiplied by,
    such as the derivative of a warp.
    """

    values: FunctionValues
    variance: FunctionValues
    log_factor: Float[Array, " point"] | float = 0.0

    def weighted(self, weights: Float[Array, " point"] | None) -> "GaussianTargets":
        """The regression in which each row counts as often as its weight says."""
        if weights is None:
            return self
        numpy = namespace(weights, self.values, self.variance)
        rows = numpy.asarray(weights, numpy.float64)
        # N(t | f, s2)^w = N(t | f, s2 / w) (2 pi s2)^((1 - w) / 2) w^(-1/2), for each output
        variance = numpy.broadcast_to(self.variance, numpy.shape(self.values))
        factor = (1 - rows) * numpy.log(2 * numpy.pi * variance) / 2 - numpy.log(rows) / 2
        log_factor = rows * self.log_factor + numpy.sum(factor, axis=0)
        return GaussianTargets(self.values, variance / rows, log_factor)


def dirichlet_targets(
    one_hot: Float[Array, "class point"], pseudo_count: float
) -> tuple[Float[Array, "class point"], Float[Array, "class point"]]:
    """Labels as Gaussian targets and noise variances of the log of a Dirichlet (Milios 2018)."""
    numpy = namespace(one_hot)
    # a = y + pseudo_count, s2 = log(1 + 1/a), t = log(a) - s2/2
    concentration = one_hot + pseudo_count
    variance = numpy.log1p(1 / concentration)
    targets = numpy.log(concentration) - variance / 2
    # A zero-mean prior suits centred targets: t - log pi - mean(t - log pi), pi the frequencies.
    frequency = numpy.mean(one_hot, axis=1, keepdims=True)
    centred = targets - numpy.log(numpy.maximum(frequency, 0.5 / one_hot.shape[1]))
    return centred - numpy.mean(centred), variance
