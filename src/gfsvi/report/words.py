"""The sentences of the page; `backticks` mark names from the user's table."""

import numpy as np

from gfsvi.auto.importance import Importance
from gfsvi.report.evidence import (
    ClassificationResult,
    Curve,
    Evidence,
    JudgedOn,
    RegressionOutput,
    Uncertainty,
    sampling_error,
)
from gfsvi.report.formatting import PERCENT, count, listed, number, percent, quoted

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
        "The model was not trained on the {held_out} held-out rows, but they decided when to stop "
        "and on {chosen}: expect slightly worse scores on new rows, and measure them with `gfsvi "
        "evaluate` on rows that the model has never seen."
    ),
    "held_out_learned": (
        "The model was first fitted without the {held_out} held-out rows, which decided on "
        "{chosen}, and learned them only after predicting them: expect slightly worse scores on "
        "new rows, and measure them with `gfsvi evaluate` on rows that are not in this table."
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
        "Each row was predicted from other rows alone, but all rows decided on the kind of prior "
        "and on {chosen}: expect slightly worse scores on new rows, and measure them with `gfsvi "
        "evaluate` on rows that the model has never seen."
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
    options = {"chosen": _chosen(evidence), "column": column}
    return text.format(held_out=count(evidence.num_held_out), **options)


def _chosen(evidence: Evidence) -> str:
    """What the rows that predictions are judged on have decided, beside the kind of prior."""
    chosen = "the noise" if evidence.labels is None else "the scale of the prior"
    return chosen if evidence.composition is None else f"{chosen} and the weight of trees"


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
    is_off = np.abs(gaps) > tolerance
    if np.mean(is_off) < 0.2:
        return "The intervals are well calibrated, as far as this many rows can show."
    place = np.argmax(np.abs(gaps))
    worst, is_narrow = percent(float(output.levels[place])), gaps[place] < 0
    direction, other = ("narrow", "wide") if is_narrow else ("wide", "narrow")
    if np.any((gaps[is_off] < 0) != is_narrow):
        return f"The {worst} intervals are too {direction}, those of other levels too {other}."
    return f"The intervals are too {direction}, especially the {worst} one."


def novelty(uncertainty: Uncertainty) -> str:
    """How novel the rows are, in one sentence."""
    share = float(np.mean(uncertainty.novelty > NOVEL))
    rows = f"{percent(share)} of the rows are" if share else "No row is"
    return f"{rows} above {NOVEL}; the median is {np.median(uncertainty.novelty):.2f}."
