"""All checks of a fit."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import PRNGKeyArray

from gfsvi.data import Data
from gfsvi.diagnostics.convergence import still_improving
from gfsvi.diagnostics.diagnostic import Diagnostic
from gfsvi.diagnostics.fitted import Fitted, Run, look_at
from gfsvi.diagnostics.measurement import too_few_points, unsteady_divergence
from gfsvi.diagnostics.network import cannot_express_prior
from gfsvi.diagnostics.noise import noise_collapsed, noise_swallowed_signal
from gfsvi.diagnostics.prior import features_ignored, prior_is_white_noise, prior_out_of_scale
from gfsvi.diagnostics.regularizer import gamma_too_large, gamma_too_small
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.methods.base import AbstractMethod
from gfsvi.methods.gfsvi import GFSVI
from gfsvi.model import Model
from gfsvi.numerics.precision import double
from gfsvi.training.history import History

Check = Callable[[Fitted], Diagnostic | None]

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
    before: Model | None = None,
    feature_names: Sequence[str] | None = None,
    key: PRNGKeyArray,
) -> tuple[Diagnostic, ...]:
    """What to know before trusting this fit, warnings first; nothing for a healthy one.

    Args:
        prior: What the fit started from.
        posterior: What came out.
        data: The rows that it was trained on.
        method: How it was fitted.
        history: What happened in training.
        before: The posterior before training (`method.initial`), for comparison.
        feature_names: One a feature, for the messages; x1, x2, ... by default.
        key: Randomness of the points and rows that are looked at.
    """
    if feature_names is None:
        feature_names = [f"x{i + 1}" for i in range(np.shape(data.x)[1])]
    names = tuple(feature_names)
    fitted = look_at(Run(prior, posterior, data, method, history, before, names), key=key)
    found = [d for check in _checks(prior, method) if (d := check(fitted)) is not None]
    return tuple(sorted(found, key=lambda diagnostic: diagnostic.severity != "warning"))


def _checks(prior: Model, method: AbstractMethod) -> tuple[Check, ...]:
    """What can be asked of this method: not every one has a kernel, or compares at points."""
    function_space = FUNCTION_SPACE_CHECKS if isinstance(method, GFSVI) else ()
    of_prior = PRIOR_CHECKS if isinstance(prior.function, GaussianProcess) else ()
    return (*function_space, *CHECKS, *of_prior)
