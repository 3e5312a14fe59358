"""Whether predictions are better than guessing, and calibrated."""

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from gfsvi import registry
from gfsvi.auto.coverage import are_inside, independent_rows
from gfsvi.auto.targets import Labels
from gfsvi.auto.unseen import UnseenRows, surprise_of
from gfsvi.data import Data
from gfsvi.diagnostics import Diagnostic
from gfsvi.likelihoods import NegativeBinomial, Normal, Poisson, StudentT, WarpedNormal
from gfsvi.likelihoods.adaptive_normal import AdaptiveNormal
from gfsvi.likelihoods.base import AbstractLikelihood
from gfsvi.methods.base import AbstractMethod
from gfsvi.predictives.base import AbstractPredictive, AbstractRealPredictive
from gfsvi.predictives.categorical import CategoricalPredictive

if TYPE_CHECKING:
    from gfsvi.auto.fitted import Fitted

MAX_ROWS = 1000
"""Shares of a thousand rows have a standard error of at most 1.6 %."""
MIN_GAP = 0.05
"""A smaller difference between nominal and observed coverage hardly misleads anyone."""
MAX_EXACT = 3000
"""Rows up to which a Gaussian process is fitted exactly in a minute."""
LEVELS = (0.5, 0.8, 0.95)
_CHANGE = "The future may differ from the past: fit again as new rows arrive. "
NAMES = frozenset({"worse_than_guessing", "miscalibrated", "over_budget"})


class PoorFitWarning(UserWarning):
    """A fit whose predictions are no better than guessing, miscalibrated, or late."""


class Judged(NamedTuple):
    """Rows, their predictions, what was observed there, and their weights.

    `y` has numbers on the user's scale, or class numbers; `is_new` says that the predictions were
    made without these rows, `is_future` that they are later than the training rows, `guess` is the
    target of the training rows, and `rows` has the positions of the judged ones.
    """

    predictive: AbstractPredictive
    y: np.ndarray
    weights: np.ndarray
    guess: np.ndarray
    guess_weights: np.ndarray
    is_new: bool
    method: type[AbstractMethod]
    is_future: bool = False
    rows: np.ndarray = np.zeros(0, int)

    @property
    def kind(self) -> str:
        """What the rows are to the model."""
        if self.is_future:
            return "rows that are later than the training rows"
        return "rows that the model was not trained on" if self.is_new else "training rows"

    @property
    def unseen(self) -> UnseenRows | None:
        """How surprising the observations were, if the predictions were made without them."""
        if not self.is_new:
            return None
        return UnseenRows(surprise_of(self.predictive, self.y), self.weights)


def judged_rows(
    fitted: "Fitted",
    data: Data,
    held_out: np.ndarray,
    method: type[AbstractMethod],
    is_future: bool = False,
) -> Judged:
    """Predict held-out rows or, if there are none, training rows, each left out if possible.

    `data` has all rows on the user's scale, with labels as class numbers; `is_future` says that
    the held-out rows are the latest ones.
    """
    x, y, weights = data.x, data.y, data.weights
    weights = np.ones(len(x)) if weights is None else weights
    trained = np.setdiff1d(np.arange(len(x)), held_out)
    rows = held_out if len(held_out) else trained
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MAX_ROWS)).astype(int)]
    predictive = None
    if not len(held_out):
        predictive = fitted.left_out(x[rows], y[rows], weights[rows])
    is_new = len(held_out) > 0 or predictive is not None
    predictive = fitted.predict(x[rows]) if predictive is None else predictive
    return Judged(
        predictive,
        y[rows],
        weights[rows],
        y[trained],
        weights[trained],
        is_new,
        method,
        is_future and len(held_out) > 0,
        rows,
    )


def quality(judged: Judged, fitted: "Fitted") -> tuple[Diagnostic, ...]:
    """Warn of predictions that are no better than guessing, and of miscalibrated ones."""
    if isinstance(fitted.target, Labels):
        found = (_worse_than_commonest(judged, fitted.target), _miscalibrated_classes(judged))
        if found == (None, None):
            found = (_worse_than_frequencies(judged, fitted.target),)
    else:
        found = (
            _worse_than_mean(judged, fitted),
            _miscalibrated_intervals(judged, fitted.posterior.likelihood),
        )
    return tuple(finding for finding in found if finding is not None)


def _worse_than_mean(judged: Judged, fitted: "Fitted") -> Diagnostic | None:
    predictive = cast(AbstractRealPredictive, judged.predictive)
    y, mean = _by_output(judged.y), _by_output(predictive.mean)
    guess = np.average(_by_output(judged.guess), axis=0, weights=judged.guess_weights)
    error, baseline = (
        np.sqrt(np.average((y - predicted) ** 2, axis=0, weights=judged.weights))
        for predicted in (mean, guess)
    )
    ratios = error / np.maximum(baseline, 1e-300)
    worst = int(np.argmax(ratios))
    if error[worst] < baseline[worst] or baseline[worst] == 0:
        return None
    names = () if fitted.preparation is None else fitted.preparation.target
    which = f" of `{names[worst]}`" if len(names) > 1 else ""
    return Diagnostic(
        "worse_than_guessing",
        "warning",
        f"The predictions{which} are worse than guessing",
        f"Their root mean squared error is {_percent(ratios[worst] - 1)} larger than that of "
        f"always predicting the mean ({error[worst]:.3g} against {baseline[worst]:.3g}, on "
        f"{len(y)} {judged.kind}).",
        _other_method(judged, exact="exact_gp", other="sparse_gp"),
    )


def _worse_than_commonest(judged: Judged, target: Labels) -> Diagnostic | None:
    predictive = cast(CategoricalPredictive, judged.predictive)
    counts = np.bincount(judged.guess, judged.guess_weights, len(target.classes))
    commonest = int(np.argmax(counts))
    accuracy, baseline = (
        float(np.average(predicted == judged.y, weights=judged.weights))
        for predicted in (np.asarray(predictive.predicted), commonest)
    )
    if accuracy >= baseline:
        return None
    return Diagnostic(
        "worse_than_guessing",
        "warning",
        "The predictions are worse than guessing",
        f"{_percent(accuracy)} of {len(judged.y)} {judged.kind} are classified correctly, and "
        f"{_percent(baseline)} if always predicting `{target.classes[commonest]}`, the most "
        "frequent class.",
        _other_method(judged, exact="gp_classifier", other="laplace"),
    )


def _worse_than_frequencies(judged: Judged, target: Labels) -> Diagnostic | None:
    """Warn of probabilities that say less than the share of each class, whatever the accuracy."""
    counts = np.bincount(judged.guess, judged.guess_weights, len(target.classes))
    # Half a row per class is added, so that a class unseen in training is not impossible.
    shares = (counts + 0.5) / np.sum(counts + 0.5)
    own, guess = (
        float(np.average(log_probs, weights=judged.weights))
        for log_probs in (judged.predictive.log_prob(judged.y), np.log(shares)[judged.y])
    )
    if own >= guess:
        return None
    return Diagnostic(
        "worse_than_guessing",
        "warning",
        "The probabilities are worse than guessing",
        f"The mean log probability of the true class is {own:.3g}, and {guess:.3g} if always "
        f"predicting the share of each class (on {len(judged.y)} {judged.kind}): the most probable "
        "class may be right, but its probability should not be trusted.",
        _other_method(judged, exact="gp_classifier", other="laplace"),
    )


def _miscalibrated_intervals(judged: Judged, used: AbstractLikelihood) -> Diagnostic | None:
    predictive = cast(AbstractRealPredictive, judged.predictive)
    if not judged.is_new:  # intervals of rows that were trained on say nothing about new ones
        return None
    levels = np.array(LEVELS)
    inside = are_inside(predictive, judged.y, levels)
    observed = np.average(inside, axis=1, weights=judged.weights)
    error = np.repeat(_standard_error(levels, judged.weights)[:, None], observed.shape[1], axis=1)
    if judged.is_future:
        error *= np.sqrt(len(judged.y) / independent_rows(inside))
    gaps = (observed - levels[:, None]) / np.maximum(MIN_GAP, 3 * error)
    level, output = np.unravel_index(np.argmax(np.abs(gaps)), gaps.shape)
    if abs(gaps[level, output]) <= 1:
        return None
    is_narrow = gaps[level, output] < 0
    are_alike = np.all((observed[:, output] < levels) == is_narrow)
    which = "" if are_alike else f"{_percent(levels[level])} "
    return Diagnostic(
        "miscalibrated",
        "warning",
        f"The {which}intervals are too {'narrow' if is_narrow else 'wide'}",
        f"The {_percent(levels[level])} intervals contain {_percent(observed[level, output])} of "
        f"{len(judged.y)} {judged.kind}.",
        _remedy(used, is_narrow, judged.is_future),
    )


def _remedy(used: AbstractLikelihood, is_narrow: bool, is_future: bool) -> str:
    """Another distribution of the noise, or a guarantee if it has adapted as far as it can.

    Nothing can be guaranteed for a future that differs from the past.
    """
    if isinstance(used, AdaptiveNormal):
        if is_future:
            return f"{_CHANGE}Until then, count on the share above."
        return (
            "The noise has adapted as far as it can. For intervals whose coverage is guaranteed, "
            '`gfsvi fit` with `--guarantee 0.9`, in Python `conformal="split"`.'
        )
    likelihood = _other_likelihood(used, is_narrow)
    return (
        f"{_CHANGE if is_future else ''}Try another distribution of the noise: `gfsvi fit` with "
        f'`--likelihood {likelihood}`, in Python `likelihood="{likelihood}"`.'
    )


def _other_likelihood(used: AbstractLikelihood, is_narrow: bool) -> str:
    if isinstance(used, Poisson):
        return "negative_binomial" if is_narrow else "warped_normal"
    is_unwarped = isinstance(used, WarpedNormal) and used.warp.learned is None
    if is_unwarped or isinstance(used, Normal | StudentT | NegativeBinomial):
        return "warped_normal"
    return "student_t" if is_narrow else "normal"


def _miscalibrated_classes(judged: Judged) -> Diagnostic | None:
    if not judged.is_new:
        return None
    probabilities = np.asarray(cast(CategoricalPredictive, judged.predictive).probabilities)
    claimed = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == judged.y
    confidence, accuracy = (np.average(v, weights=judged.weights) for v in (claimed, correct))
    tolerance = max(MIN_GAP, 3 * float(_standard_error(confidence, judged.weights)))
    if abs(confidence - accuracy) <= tolerance:
        return None
    return Diagnostic(
        "miscalibrated",
        "warning",
        f"The predictions are {'over' if confidence > accuracy else 'under'}confident",
        f"Their mean probability is {_percent(confidence)}, but {_percent(accuracy)} of "
        f"{len(judged.y)} {judged.kind} are classified correctly.",
        _other_method(judged, exact="deep_ensemble", other="deep_ensemble"),
    )


def _other_method(judged: Judged, *, exact: str, other: str) -> str:
    """Advise an exact method for a small table or another for a large one, or the default."""
    method = exact if len(judged.guess) <= MAX_EXACT else other
    method = "gfsvi" if registry.find("methods", method) is judged.method else method
    task = "Classifier" if isinstance(judged.predictive, CategoricalPredictive) else "Regressor"
    return (
        "Check that the columns say something about the target, then try another method: "
        f'`gfsvi fit` with `--method {method}`, in Python `Bayesian{task}("{method}")`.'
    )


def next_command(command: str, diagnostic: Diagnostic) -> str | None:
    """The command line of a fit, with the option that the remedy of a diagnostic names."""
    option = re.search(r"`(--[a-z-]+) ([a-z_0-9.]+)`", diagnostic.remedy)
    if diagnostic.name not in NAMES or option is None:
        return None
    words, (name, value) = shlex.split(command), option.groups()
    if name in words:
        words[words.index(name) + 1] = value
        return shlex.join(words)
    return shlex.join([*words, name, value])


def _standard_error(share: np.ndarray | float, weights: np.ndarray) -> np.ndarray:
    """The standard error of a share, with fewer rows than there are if their weights differ."""
    num_rows = np.sum(weights) ** 2 / np.sum(weights**2)
    return np.sqrt(share * (1 - np.asarray(share)) / num_rows)


def _by_output(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, np.float64).reshape(len(values), -1)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
