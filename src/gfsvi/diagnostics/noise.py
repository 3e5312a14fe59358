"""Whether the noise level is plausible."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.examined import Examined, Observations
from gfsvi.likelihoods.base import AbstractLikelihood

# Few measured quantities are repeatable to a thousandth of their spread.
MIN_NOISE = 1e-3
# On training rows, errors are smaller than the noise; twice as large is a mismatch.
MAX_ERROR = 2.0
# A tenth of the noise that the prior was chosen with: the fit explains noise as signal.
MIN_OF_PRIOR = 0.1
# A mean that varies by less than a tenth of the noise explains at most 1 % of the variance.
MIN_SIGNAL = 0.1
# Of the absolute value of a standard normal number.
MEDIAN_OF_NORMAL = 0.6745


def noise_collapsed(examined: Examined) -> Diagnostic | None:
    """Noise far below the target's spread, the errors, or what the prior was chosen with."""
    observations = examined.observations
    if observations is None:
        return None
    noise = float(np.sqrt(np.mean(observations.noise_variance)))
    spread, error = float(np.std(observations.y)), _relative_error(observations)
    fallen = _share_of_prior(examined)
    if noise < MIN_NOISE * spread:
        finding = f"{share(noise / spread)} of the target's standard deviation"
    elif error > MAX_ERROR:
        finding = f"while errors on the training rows are {error:.2g} times as large"
    elif fallen is not None and fallen < MIN_OF_PRIOR:
        finding = f"{share(fallen)} of the prior's, with no validation rows to check it"
    else:
        return None
    more_points = "use more measurement points (num_points)"
    if not examined.is_computed:  # whose noise is set by training rows, each left out
        more_points = f"hold out validation rows (validation_fraction), {more_points}"
    return Diagnostic(
        "noise_collapsed",
        "warning",
        "The noise has collapsed",
        f"Intervals will be too narrow for new rows: the noise has a standard deviation of "
        f"{noise:.2g}, {finding}, after training on {len(examined.run.data)} rows.",
        f"{more_points[0].upper()}{more_points[1:]}, or fix the noise; if the target has no "
        "noise, ignore this.",
    )


def noise_swallowed_signal(examined: Examined) -> Diagnostic | None:
    """A mean function that hardly varies compared with the noise."""
    observations = examined.observations
    if observations is None:
        return None
    signal = np.std(observations.mean, axis=1)
    noise = np.sqrt(np.mean(observations.noise_variance, axis=1))
    weakest = int(np.argmin(signal / noise))
    ratio = float(signal[weakest] / noise[weakest])
    if not ratio < MIN_SIGNAL:
        return None
    where = f" for output {weakest + 1}" if len(signal) > 1 else ""
    return Diagnostic(
        "noise_swallowed_signal",
        "warning",
        "Nearly all variation was attributed to noise",
        f"The predictions hardly depend on the features{where}: the fitted mean varies by "
        f"{signal[weakest]:.2g} (standard deviation over rows) and the noise is "
        f"{noise[weakest]:.2g}, a ratio of {ratio:.2g}.",
        "Check that the features carry information about the target; if they do, compare with "
        "another method, such as `exact_gp`, start from smaller noise, or use a kernel with a "
        "shorter length scale.",
    )


def _relative_error(observations: Observations) -> float:
    """The size of the errors, each in units of the noise at its row.

    By their median, which is that of the standard deviation if they are normal: a few rows that
    are far off, which heavy tails allow for, do not mean that the noise is too small.
    """
    error = observations.y - observations.mean
    sizes = np.abs(error) / np.sqrt(observations.noise_variance)
    return float(np.median(sizes)) / MEDIAN_OF_NORMAL


def _share_of_prior(examined: Examined) -> float | None:
    """The noise in units of the prior's; None if rows checked it or there is none.

    These are validation rows, or for a posterior in closed form all rows, each left out.
    """
    run = examined.run
    prior, posterior = mean_noise(run.prior.likelihood), mean_noise(run.posterior.likelihood)
    checked = examined.is_computed or len(run.history.scores) > 0
    if checked or prior is None or posterior is None:
        return None
    return posterior / prior


def mean_noise(likelihood: AbstractLikelihood) -> float | None:
    """Root mean square of the noise over outputs, on the function's scale, if there is any."""
    noise = likelihood.noise_std
    return None if noise is None else float(np.sqrt(np.mean(np.square(noise))))
