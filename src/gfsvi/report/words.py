"""The sentences of the page; `backticks` mark names from the user's table."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from gfsvi.auto.importance import Importance
from gfsvi.numerics.quantities import time_text
from gfsvi.report.evidence import (
    ClassificationResult,
    Curve,
    Distance,
    Evidence,
    JudgedOn,
    KernelPart,
    LengthScale,
    PriorEvidence,
    RegressionOutput,
    Task,
    Uncertainty,
    sampling_error,
)
from gfsvi.report.formatting import PERCENT, between, count, listed, number, percent, quoted

_FAMILIES = {
    "RBF": "varies very smoothly",
    "Matern52": "varies smoothly, without kinks",
    "Matern32": "varies fairly smoothly, but its slope can change quickly",
    "Matern12": "can be rough: it is continuous, but can turn sharply anywhere",
    "RationalQuadratic": "varies smoothly, over long and short distances at once",
    "Periodic": "repeats periodically",
    "LocallyPeriodic": "repeats periodically, in a shape that drifts slowly",
    "IntegratedBrownian": "has a slope that changes as time goes on",
    "Linear": "follows a straight line",
    "Constant": "has an unknown constant level",
    "White": "has noise that no column explains",
    "BayesianNetwork": "is any function that a network with weights of moderate size can express",
}
# The target changes slowly along a feature if its length scale exceeds the range of the data
# and the target can change much more quickly along another feature.
_SLOW_LENGTHSCALE = 4.0
_SLOW_SHARE = 0.25
_NEGLIGIBLE = 0.01
_JUDGED_ROWS: dict[JudgedOn, str] = {
    "held_out": "{} held-out rows",
    "future": "the {} latest rows (held out)",
    "left_out": "{} rows (each predicted without itself)",
    "trained": "{} training rows",
}
_HONESTY = {
    "trained": (
        "No rows were held out, so these scores are for the rows that the model was trained on: "
        "expect worse scores on new rows, and measure them with `gfsvi evaluate`."
    ),
    "held_out": (
        "The model was not trained on the {held_out} held-out rows, but they decided when to stop: "
        "expect slightly worse scores on new rows, and measure them with `gfsvi evaluate` on rows "
        "that the model has never seen."
    ),
    "held_out_learned": (
        "The model was first fitted without the {held_out} held-out rows, which decided on the "
        "noise, and learned them only after predicting them: expect slightly worse scores on new "
        "rows, and measure them with `gfsvi evaluate` on rows that are not in this table."
    ),
    "future": (
        "The rows are sorted by {column}, so the latest {held_out} were held out: these scores "
        "show how well the past predicts the future. For the final model, train on all rows with "
        "`--hold-out none`."
    ),
    "future_learned": (
        "The rows are sorted by {column}, so the model was first fitted without the latest "
        "{held_out}: these scores show how well the past predicts the future. It then learned "
        "these rows as well, and everything else on this page, like every prediction, uses all "
        "rows."
    ),
    "left_out": (
        "Each row was predicted from other rows alone, but all rows decided on the kind of prior, "
        "and the noise was chosen by the same predictions: expect slightly worse scores on new "
        "rows, and measure them with `gfsvi evaluate` on rows that the model has never seen."
    ),
    "left_out_in_time": (
        "Each row was predicted without itself (leave-one-out), but with the help of later rows "
        "(they are sorted by {column}): expect worse scores in the future, and measure them with "
        "`--hold-out end`."
    ),
}
_ALIKE = 0.5
"""A smaller share of rows that are independent makes the coverage much more uncertain."""
_HARDLY_BETTER = 0.9
"""A larger root mean squared error, relative to that of the mean, is little progress."""
NOVEL = 0.5
CONFIDENT = 0.9


def prior_sentences(
    prior: PriorEvidence, targets: Sequence[str], task: Task = "regression"
) -> list[str]:
    """What the prior assumes about the function, and how quickly it can change."""
    subject = listed([quoted(target) for target in targets], 3)
    subject = f"Each of {subject}" if len(targets) > 1 else subject
    subject = f"The probability of each class of {subject}" if task == "classification" else subject
    families = [_family_sentence(part, subject) for part in prior.parts]
    if len(prior.parts) > 1:
        whole = f"{subject} is made of {len(prior.parts)} parts."
        families = [whole, *(_part_sentence(part) for part in prior.parts)]
    families += [] if prior.limits is None else [prior.limits]
    if prior.about_weights:
        return [*families, "No column was assumed to matter more than another."]
    return [*families, *_length_scale_sentences(prior), *_turn_sentences(prior), *_values(prior)]


def _turn_sentences(prior: PriorEvidence) -> list[str]:
    """How often the function goes up and down."""
    smooth = [turn for turn in prior.turns if turn.length > 0]
    rough = [quoted(turn.column) for turn in prior.turns if turn.length == 0]
    items = [f"{_length(turn, 2)} along {quoted(turn.column)}" for turn in smooth]
    said = [f"It changes direction about every {listed(items)}."] if items else []
    return said + ([f"It turns at every scale along {listed(rough)}."] if rough else [])


def _values(prior: PriorEvidence) -> list[str]:
    """Where most of the function's values are."""
    if prior.values is None:
        return []
    low, high = prior.values
    return [f"95{PERCENT} of its values are between {between(low, high).replace(' to ', ' and ')}."]


def _length(distance: Distance, digits: int = 4) -> str:
    if distance.in_days:
        return time_text(distance.length, digits)
    return number(float(f"{distance.length:.{digits}g}"))


def _family_sentence(part: KernelPart, subject: str) -> str:
    shape = _FAMILIES.get(part.family, f"follows the kernel {part.family}")
    along = f" along {listed([quoted(name) for name in part.features])}" if part.features else ""
    periods = [
        f"{period if isinstance(period, str) else number(period)} in {quoted(name)}"
        for name, period in part.periods
    ]
    repeats = f", with a period of {listed(periods, 3)}" if periods else ""
    return f"{subject} {shape}{along}{repeats}."


def _part_sentence(part: KernelPart) -> str:
    """One of several parts: where it is seen comes first."""
    if not part.features:
        return _family_sentence(part, "One")
    sentence = _family_sentence(dataclasses.replace(part, features=()), "one")
    return f"Along {listed([quoted(name) for name in part.features])}, {sentence}"


def seasons(evidence: Evidence) -> str:
    """How to read the pictures of trend and seasons."""
    found = evidence.seasons[0]
    seasons = len(found) - 1
    shown = "The prior adds a trend, which goes on as it was last, "
    if seasons:
        shown += "a season that repeats, " if seasons == 1 else f"{seasons} seasons that repeat, "
    others = ", the effects of other columns" if evidence.num_columns > 1 else ""
    shown += f"short disturbances{others} and noise; here they are apart. "
    if seasons:
        last = "its" if seasons == 1 else "their"
        shown += f"A season is what it adds to the latest trend, over {last} last period. "
    return shown + "Bands are 95 % intervals; the trend is drawn beyond the last training row."


def _length_scale_sentences(prior: PriorEvidence) -> list[str]:
    scales = prior.length_scales
    if len({scale.value for scale in scales}) == 1 and len(scales) > 1:
        return [f"All columns have the same length scale, {number(scales[0].value)}."]
    slow = [scale for scale in scales if _is_slow(scale, prior)]
    quick = [scale for scale in scales if scale not in slow]
    sentences = [_quick_sentence(quick)] if quick else []
    if quick and slow:
        names = listed([quoted(scale.column) for scale in slow], 5)
        sentences.append(f"Only slow changes are expected along {names}.")
    return sentences


def _is_slow(scale: LengthScale, prior: PriorEvidence) -> bool:
    shortest = prior.length_scales[0].value
    return scale.value > _SLOW_LENGTHSCALE and shortest < _SLOW_SHARE * scale.value


def _quick_sentence(scales: Sequence[LengthScale], most: int = 4) -> str:
    items = [
        f"{number(scale.value)} along {quoted(scale.column)}" + _in_units(scale)
        for scale in scales[:most]
    ]
    others = len(scales) - most
    if others > 0:
        items.append(f"more along {others} other {'column' if others == 1 else 'columns'}")
    return f"The length scale is {listed(items, most + 1)}."


def _in_units(scale: LengthScale) -> str:
    if scale.in_units is None:
        return ""
    return f" ({number(scale.in_units)} {'days' if scale.in_days else 'in its own units'})"


def importance(importance: Importance, target: int = 0) -> str:
    """Which columns the predictions depend on most."""
    shares = importance.total.reshape(len(importance.columns), -1)[:, target]
    order = [i for i in np.argsort(-shares, kind="stable") if shares[i] >= _NEGLIGIBLE]
    if not order:
        return f"No column changes the predictions by more than {percent(_NEGLIGIBLE)}."
    items = [f"{percent(min(shares[i], 1))} for {quoted(importance.columns[i])}" for i in order[:3]]
    return f"The total share is {listed(items)}."


def summary(evidence: Evidence) -> str:
    """The quality of the predictions in one sentence."""
    rows = _JUDGED_ROWS[evidence.judged_on].format(count(evidence.num_judged))
    if evidence.labels is not None:
        guess = percent(evidence.labels.scores[0].baseline)
        return (
            f"{percent(evidence.labels.accuracy)} of {rows} were classified correctly; always "
            f"predicting the most frequent class would be right for {guess}."
        )
    output = evidence.outputs[0]
    which = f" of {quoted(output.name)}" if len(evidence.targets) > 1 else ""
    return (
        f"On {rows}, half of the predictions{which} are within {number(output.median_error)} of "
        f"the true value, and {percent(output.coverage)} of the true values are inside their "
        f"95{PERCENT} interval.{_range_of_coverage(output)}" + _beside_guessing(output)
    )


def _beside_guessing(output: RegressionOutput) -> str:
    """A warning if the columns are of little use."""
    error = output.scores[1]
    if error.model < _HARDLY_BETTER * error.baseline:
        return ""
    return (
        f" Always predicting the mean would be about as good: the root mean squared error is "
        f"{number(error.model)}, that of the mean {number(error.baseline)}."
    )


def _range_of_coverage(output: RegressionOutput) -> str:
    """How uncertain the coverage is if it is that of few independent rows."""
    if output.num_independent > _ALIKE * len(output.actual):
        return ""
    low = max(output.coverage - output.coverage_error, 0)
    high = min(output.coverage + output.coverage_error, 1)
    return (
        " Successive rows have similar errors, so this share is uncertain: later rows may have "
        f"anything from {percent(low)} to {percent(high)}."
    )


def honesty(evidence: Evidence) -> str:
    """What the scores can and cannot show."""
    kind, column = evidence.judged_on, quoted(evidence.time_column or "")
    in_time = kind == "left_out" and evidence.time_column is not None
    kind = f"{kind}_learned" if evidence.are_learned else kind
    text = _HONESTY["left_out_in_time" if in_time else kind]
    return text.format(held_out=count(evidence.num_held_out), column=column)


def tiles(evidence: Evidence) -> list[tuple[str, str]]:
    """Three headline numbers, each with its meaning."""
    if evidence.labels is not None:
        return _label_tiles(evidence.labels)
    output = evidence.outputs[0]
    median = output.scores[0]
    lower = 1 - median.model / median.baseline if median.baseline > 0 else 0.0
    direction = "smaller" if lower >= 0 else "larger"
    return [
        (number(output.median_error), f"median absolute error in {quoted(output.name)}"),
        (percent(output.coverage), f"of rows are inside their 95{PERCENT} interval"),
        (
            percent(abs(lower)),
            f"{direction} median absolute error than always predicting the mean",
        ),
    ]


def _label_tiles(labels: ClassificationResult) -> list[tuple[str, str]]:
    accuracy, gap = labels.scores[0], labels.scores[1]
    baseline = percent(accuracy.baseline)
    return [
        (
            percent(accuracy.model),
            f"accuracy; {baseline} if always predicting the most frequent class",
        ),
        (percent(gap.model), "gap between confidence and accuracy"),
        _confident_tile(labels),
    ]


def _confident_tile(labels: ClassificationResult) -> tuple[str, str]:
    confident = [b for b in labels.bins if b.confidence >= CONFIDENT]
    condition = f"with a confidence of at least {percent(CONFIDENT)}"
    if not confident:
        return percent(0.0), f"of rows were predicted {condition}"
    rows = sum(b.count for b in confident)
    correct = sum(b.accuracy * b.count for b in confident) / rows
    which = f"the {count(rows)} rows" if rows > 1 else "the only row"
    return percent(correct), f"accuracy on {which} predicted {condition}"


def learning(curve: Curve) -> str:
    """How training went, in one sentence."""
    steps = count(len(curve.objective))
    if not len(curve.scores):
        return f"Training took {steps} steps; no rows were held out to monitor it."
    return (
        f"Training took {steps} steps; the held-out rows were predicted best after "
        f"{count(curve.best_step)} steps, and that model was kept."
    )


def signal_and_noise(output: RegressionOutput) -> str:
    """How much of the target the columns explain."""
    return (
        f"The columns explain {_about(output.explained_share)} of the variance of "
        f"{quoted(output.name)}; the rest is noise with a standard deviation of about "
        f"{number(output.noise)}, which more rows of this kind would not reduce."
    )


def _about(share: float) -> str:
    said = percent(share)
    for sign, words in (("<", "less than"), (">", "more than")):
        if said.startswith(sign):
            return f"{words}{said.removeprefix(sign)}"
    return f"about {said}"


def class_overlap(labels: ClassificationResult) -> str:
    """How much of the uncertainty about classes more data would remove."""
    return (
        f"More rows of this kind would remove {_about(labels.learnable_share)} of the "
        "uncertainty about classes; the rest is due to overlap between them."
    )


def calibration(output: RegressionOutput) -> str:
    """Whether the intervals have the coverage that they claim."""
    num_rows = output.num_independent
    gaps = output.coverages - output.levels
    tolerance = np.maximum(sampling_error(output.levels, num_rows), 0.5 / num_rows)
    if np.mean(np.abs(gaps) > tolerance) < 0.2:
        return "The intervals are well calibrated, as far as this many rows can show."
    worst = float(output.levels[np.argmax(np.abs(gaps))])
    direction = "narrow" if np.mean(gaps) < 0 else "wide"
    return f"The intervals are too {direction}, especially the {percent(worst)} one."


def novelty(uncertainty: Uncertainty) -> str:
    """How novel the rows are, in one sentence."""
    share = float(np.mean(uncertainty.novelty > NOVEL))
    rows = f"{percent(share)} of the rows are" if share else "No row is"
    return f"{rows} above {NOVEL}; the median is {np.median(uncertainty.novelty):.2f}."
