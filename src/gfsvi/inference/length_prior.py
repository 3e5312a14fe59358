"""What is thought of length scales before the rows are seen."""

import equinox as eqx
import numpy as np


class LengthPrior(eqx.Module):
    """Log length scales scatter around a common centre, with Student's t of three degrees.

    With a free length scale for each of many features, the evidence singles out features that fit
    the rows by chance. Neither the evidence nor leaving rows out notices: both have seen the rows.
    The heavy tails leave a few features free to matter much more or less than the others.

    Args:
        spread: The scale of the deviations from the common centre, for few features.
        spread_of_all: That of all of them together, for many features.
        centre: How far the mean of the centre, which is normal, is above the log of the distance
            between rows, which grows with the root of the number of features; its standard
            deviation is one.
    """

    spread: float = eqx.field(static=True, default=0.5)
    spread_of_all: float = eqx.field(static=True, default=1.5)
    centre: float = eqx.field(static=True, default=0.5)

    def log_density(self, logs: np.ndarray, num_features: int) -> tuple[float, np.ndarray]:
        """The log density of log length scales, one or one per feature, and its gradient.

        A constant is left out.
        """
        spread = min(self.spread, self.spread_of_all / np.sqrt(num_features))
        middle = np.mean(logs)
        away = (logs - middle) / spread
        from_centre = middle - 0.5 * np.log(num_features) - self.centre
        value = -2 * float(np.sum(np.log1p(away**2 / 3))) - 0.5 * from_centre**2
        by_away = -4 * away / (3 + away**2)
        # The centre is the mean of all, which moves with each of them.
        return value, (by_away - np.mean(by_away)) / spread - from_centre / len(logs)
