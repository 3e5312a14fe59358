"""Whether the noise level is believable."""

import numpy as np

from gfsvi.diagnostics.diagnostic import Diagnostic, share
from gfsvi.diagnostics.fitted import Fitted, Observations

# Few measured quantities repeat to a thousandth of their spread.
MIN_NOISE = 1e-3
# On rows that were trained on, errors are smaller than the noise; twice as large is a mismatch.
MAX_ERROR = 2.0
# A tenth of the noise that the prior was chosen with: the fit explains noise as signal.
MIN_OF_PRIOR = 0.1
# A mean that moves by less than a tenth of the noise explains at most 1 % of the variance.
MIN_SIGNAL = 0.1


def noise_collapsed(fitted: Fitted) -> Diagnostic | None:
    """Noise far below the target's spread, the errors, or what the prior was chosen with."""
    observations = fitted.observations
    if observations is None:
        return None
    noise = float(np.sqrt(np.mean(observations.noise_variance)))
    spread, error = float(np.std(observations.y)), _error(observations)
    if noise < MIN_NOISE * spread:
        finding = f"{share(noise / spread)} of the target's standard deviation"
    elif error > MAX_ERROR * noise:
        finding = f"while the fit errs by {error:.2g} on its own rows"
    elif _fell_unchecked(fitted, noise):
        finding = f"from {_prior_noise(fitted):.2g} in the prior, with no validation rows to check"
    else:
        return None
    return Diagnostic(
        "noise_collapsed",
        "warning",
        "The noise has collapsed",
        f"Intervals will be too narrow for new rows: the noise has the standard deviation "
        f"{noise:.2g}, {finding}, after training on {len(fitted.run.data)} rows.",
        "Set validation rows aside (validation_fraction), take more measurement points "
        "(num_points), or fix the noise; without noise in the target, ignore this.",
    )


def noise_swallowed_signal(fitted: Fitted) -> Diagnostic | None:
    """A mean function that hardly moves beside the noise."""
    observations = fitted.observations
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
        "Nearly everything was taken for noise",
        f"The predictions hardly depend on the features{where}: the fitted mean varies by "
        f"{signal[weakest]:.2g} (standard deviation over rows) and the noise is "
        f"{noise[weakest]:.2g}, a ratio of {ratio:.2g}.",
        "Check that the features carry information about the target; if they do, start from "
        "smaller noise, train longer (num_steps), or use a kernel with a shorter length scale.",
    )


def _error(observations: Observations) -> float:
    return float(np.sqrt(np.mean((observations.y - observations.mean) ** 2)))


def _fell_unchecked(fitted: Fitted, noise: float) -> bool:
    return not len(fitted.run.history.scores) and noise < MIN_OF_PRIOR * _prior_noise(fitted)


def _prior_noise(fitted: Fitted) -> float:
    noise = getattr(fitted.run.prior.likelihood, "noise", 0.0)
    return float(np.mean(np.asarray(noise)))
