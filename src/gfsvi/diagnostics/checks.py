"""All checks of a fit."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.diagnostics.convergence import still_improving
from gfsvi.diagnostics.diagnostic import Diagnostic
from gfsvi.diagnostics.examined import Examined, FitRun, examine
from gfsvi.diagnostics.measurement import too_few_points, unsteady_divergence
from gfsvi.diagnostics.network import cannot_express_prior
from gfsvi.diagnostics.noise import noise_collapsed, noise_swallowed_signal
from gfsvi.diagnostics.prior import features_ignored, prior_is_white_noise, prior_out_of_scale
from gfsvi.diagnostics.regularizer import gamma_too_large, gamma_too_small
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.methods.base import AbstractMethod
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import History

Check = Callable[[Examined], Diagnostic | None]

FUNCTION_SPACE_CHECKS: tuple[Check, ...] = (
    cannot_express_prior,
    too_few_points,
    unsteady_divergence,
    gamma_too_large,
    gamma_too_small,
)
CHECKS: tuple[Check, ...] = (noise_collapsed, noise_swallowed_signal, still_improving)
PRIOR_CHECKS: tuple[Check, ...] = (prior_is_white_noise, prior_out_of_scale, features_ignored)


@double
def diagnose(
    prior: Model,
    posterior: Model,
    data: Data,
    *,
    method: AbstractMethod,
    history: History,
    feature_names: Sequence[str] | None = None,
    key: PRNGKeyArray,
) -> tuple[Diagnostic, ...]:
    """What to know before trusting this fit, warnings first; empty for a healthy one.

    Args:
        prior: The model before the fit.
        posterior: The model after it.
        data: The training rows.
        method: How it was fitted.
        history: The record of training.
        feature_names: One name per feature, for the messages; x1, x2, ... by default.
        key: Chooses the points and rows that are examined.
    """
    if feature_names is None:
        feature_names = [f"x{i + 1}" for i in range(np.shape(data.x)[1])]
    names = tuple(feature_names)
    examined = examine(FitRun(prior, posterior, data, method, history, names), key=key)
    found = [d for check in _checks(examined) if (d := check(examined)) is not None]
    return tuple(sorted(found, key=lambda diagnostic: diagnostic.severity != "warning"))


def _checks(examined: Examined) -> tuple[Check, ...]:
    """The checks that apply: not every method compares at points, or has a kernel."""
    function_space = () if examined.comparison is None else FUNCTION_SPACE_CHECKS
    is_process = isinstance(examined.run.prior.function, GaussianProcess)
    return (*function_space, *CHECKS, *(PRIOR_CHECKS if is_process else ()))
