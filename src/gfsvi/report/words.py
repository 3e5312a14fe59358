"""Numbers and findings in sentences; `backticks` mark names from the user's table."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gfsvi.report.evidence import (
    ClassificationResult,
    Curve,
    Doubt,
    Evidence,
    KernelPart,
    PriorEvidence,
    RegressionOutput,
    Relevance,
    Task,
)

_FAMILIES = {
    "RBF": "varies very smoothly, without any kink",
    "Matern52": "varies smoothly: it bends, but has no kinks",
    "Matern32": "varies fairly smoothly: its slope may change quickly",
    "Matern12": "may be rough: it is continuous, but can turn sharply everywhere",
    "RationalQuadratic": "varies smoothly, on long and short scales at once",
    "Periodic": "repeats itself",
    "LocallyPeriodic": "repeats itself, in a shape that drifts slowly",
    "Linear": "follows a straight line",
    "Constant": "has an unknown level",
    "White": "has scatter that no column explains",
    "BayesianNetwork": "is whatever a network with weights of moderate size can express",
}
# A feature hardly matters if the target changes over lengths that the data do not span, and
# much faster along another feature.
_HARDLY_LENGTH = 4.0
_HARDLY_SHARE = 0.25
NOVEL = 0.5
SURE = 0.9
_PERCENT = "\N{NO-BREAK SPACE}%"
_MINUS = "\N{MINUS SIGN}"
_THIN = "\N{NARROW NO-BREAK SPACE}"


def number(value: float) -> str:
    """Three significant digits, as a person would write them."""
    value = float(value)
    if not math.isfinite(value):
        return "not finite"
    size = abs(value)
    if value == 0:
        return "0"
    if size >= 1e7 or size < 1e-4:
        return f"{value:.2e}".replace("-", _MINUS)
    if size >= 1000:
        return f"{value:,.0f}".replace(",", _THIN).replace("-", _MINUS)
    decimals = max(0, 2 - math.floor(math.log10(size)))
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text and size >= 100 else text
    return text.replace("-", _MINUS)


def percent(share: float) -> str:
    """A share in per cent; only all is 100 % and only none is 0 %."""
    hundred = 100 * float(share)
    if 0 < hundred < 0.5:
        return f"< 1{_PERCENT}"
    if 99.5 <= hundred < 100:
        return f"> 99{_PERCENT}"
    return f"{hundred:.0f}{_PERCENT}"


def count(value: int) -> str:
    """A whole number with its thousands apart."""
    return f"{value:,}".replace(",", _THIN)


def shortened(text: str, length: int = 40) -> str:
    """At most `length` characters of a name, on one line."""
    line = " ".join(str(text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def quoted(name: str) -> str:
    """A name from the user's table, marked as one."""
    return f"`{shortened(name).replace('`', chr(39))}`"


def listed(items: Sequence[str], most: int = 6) -> str:
    """Items in a row, the last after `and`."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    if len(shown) <= 1:
        return "".join(shown)
    return ", ".join(shown[:-1]) + " and " + shown[-1]


def listed_numbers(values: np.ndarray) -> str:
    """Numbers of several outputs side by side."""
    return "; ".join(number(value) for value in values)


def between(low: float, high: float) -> str:
    """An interval."""
    return f"{number(low)} to {number(high)}"


def cell(value: Any) -> str:
    """A value of the table, whole numbers without decimals."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        if math.isnan(value):
            return "missing"
        is_whole = float(value).is_integer() and abs(value) < 1e6
        return str(int(value)).replace("-", _MINUS) if is_whole else number(float(value))
    is_missing = value is None or str(value) in ("nan", "NaT", "<NA>")
    return "missing" if is_missing else shortened(value, 24)


def prior_sentences(
    prior: PriorEvidence, targets: Sequence[str], task: Task = "regression"
) -> list[str]:
    """What was assumed of the function, and which features matter on which scale."""
    subject = listed([quoted(target) for target in targets], 3)
    subject = f"Each of {subject}" if len(targets) > 1 else subject
    subject = f"The chance of each {subject}" if task == "classification" else subject
    sentences = [_family_sentence(part, subject) for part in prior.parts]
    if prior.about_weights:
        return [*sentences, "No column was taken to matter more than another."]
    relevances = prior.relevances
    hardly = [relevance for relevance in relevances if _hardly_matters(relevance, prior)]
    matter = [relevance for relevance in relevances if relevance not in hardly]
    if len({relevance.lengthscale for relevance in relevances}) == 1 and len(relevances) > 1:
        scale = number(relevances[0].lengthscale)
        return [*sentences, f"All features matter on the same scale, {scale} standard deviations."]
    if matter:
        sentences.append(_matters(matter))
    if hardly and matter:
        names = [quoted(relevance.feature) for relevance in hardly]
        sentences.append(f"{listed(names, 5)} hardly {'matter' if len(names) > 1 else 'matters'}.")
    return sentences


def _family_sentence(part: KernelPart, subject: str) -> str:
    shape = _FAMILIES.get(part.family, f"follows a kernel of its own, {part.family}")
    along = f" along {listed([quoted(name) for name in part.features])}" if part.features else ""
    periods = [f"every {number(period)} of {quoted(name)}" for name, period in part.periods]
    repeats = f": {listed(periods, 3)}" if periods else ""
    return f"{subject} {shape}{along}{repeats}."


def _hardly_matters(relevance: Relevance, prior: PriorEvidence) -> bool:
    largest = prior.relevances[0].value
    return relevance.lengthscale > _HARDLY_LENGTH and relevance.value < _HARDLY_SHARE * largest


def _matters(relevances: Sequence[Relevance], most: int = 4) -> str:
    first, *others = [
        f"on a scale of {number(r.lengthscale)}"
        + ("" if r.own_scale is None else f" ({number(r.own_scale)} in its own units)")
        for r in relevances[:most]
    ]
    items = [f"{quoted(relevances[0].feature)} matters {first}"]
    for relevance, scale in zip(relevances[1:], others, strict=False):
        items.append(f"{quoted(relevance.feature)} {scale.replace('a scale of ', '', 1)}")
    if len(relevances) > most:
        items.append(f"{len(relevances) - most} more on longer ones")
    return listed(items, most + 1) + "."


def summary(evidence: Evidence) -> str:
    """The fit in one sentence."""
    rows = f"{count(evidence.num_judged)} {_judged_rows(evidence)}"
    if evidence.labels is not None:
        share = percent(evidence.labels.accuracy)
        return f"Of {rows}, {share} were given the right class."
    output = evidence.outputs[0]
    which = f" of {quoted(output.name)}" if len(evidence.targets) > 1 else ""
    return (
        f"On {rows}, half of the predictions{which} are within {number(output.typical_error)} of "
        f"the truth, and 95{_PERCENT} intervals held {percent(output.coverage)} of the rows."
    )


def _judged_rows(evidence: Evidence) -> str:
    return "training rows" if evidence.judged_on_training else "held-out rows"


def honesty(evidence: Evidence) -> str:
    """What the judged rows can and cannot show."""
    if evidence.judged_on_training:
        return (
            "No rows were held out, so these are scores on the very rows the model learned from: "
            "expect worse on new ones, and judge the model with `gfsvi evaluate` on new rows."
        )
    return (
        f"The {count(evidence.num_judged)} held-out rows were not learned from, but they decided "
        "when to stop: expect slightly worse on new rows. The real test is `gfsvi evaluate` on "
        "rows the model has never met."
    )


def tiles(evidence: Evidence) -> list[tuple[str, str]]:
    """The headline in three numbers, each with what it means."""
    if evidence.labels is not None:
        return _label_tiles(evidence.labels)
    output = evidence.outputs[0]
    rmse = output.scores[1]
    better = 1 - rmse.model / rmse.baseline if rmse.baseline > 0 else 0.0
    return [
        (number(output.typical_error), f"typical error in {quoted(output.name)}: half are closer"),
        (percent(output.coverage), f"of rows fell inside their 95{_PERCENT} interval"),
        _comparison(better, "error than always guessing the mean"),
    ]


def _label_tiles(labels: ClassificationResult) -> list[tuple[str, str]]:
    right, gap = labels.scores[0], labels.scores[1]
    sure = [b for b in labels.bins if b.confidence >= SURE]
    share = (percent(0.0), f"of rows had a class given at least {percent(SURE)}")
    if sure:
        rows = sum(b.count for b in sure)
        correct = sum(b.accuracy * b.count for b in sure) / rows
        told = f"the {count(rows)} rows" if rows > 1 else "the one row"
        share = (percent(correct), f"right among {told} it was at least {percent(SURE)} sure of")
    return [
        (
            percent(right.model),
            f"called right; always guessing one class: {percent(right.baseline)}",
        ),
        (percent(gap.model), "apart: how sure it was, and how often it was right"),
        share,
    ]


def _comparison(share: float, what: str) -> tuple[str, str]:
    return percent(abs(share)), f"{'less' if share >= 0 else 'more'} {what}"


def learning(curve: Curve) -> str:
    """How training went, in a sentence."""
    steps = count(len(curve.objective))
    if not len(curve.scores):
        return f"Training took {steps} steps; no rows were held out to watch it."
    return (
        f"Training took {steps} steps; the held-out rows were predicted best after "
        f"{count(curve.best_step)}, and that model was kept."
    )


def scatter(output: RegressionOutput) -> str:
    """Signal against noise."""
    return (
        f"The columns explain about {percent(output.explained_share)} of what makes "
        f"{quoted(output.name)} vary; the rest is scatter of about {number(output.noise)} that "
        "no amount of rows like these would remove."
    )


def label_doubt(labels: ClassificationResult) -> str:
    """How much of the doubt would go away."""
    return (
        f"Of the model's doubt about classes, about {percent(labels.learnable_share)} would go "
        "away with more rows like these; the rest is overlap between the classes."
    )


def calibration(output: RegressionOutput) -> str:
    """Whether intervals keep what they promise."""
    gaps = output.coverages - output.levels
    error = 2 * np.sqrt(output.levels * (1 - output.levels) / max(len(output.actual), 1))
    outside = np.abs(gaps) > np.maximum(error, 0.5 / max(len(output.actual), 1))
    if np.mean(outside) < 0.2:
        return "The intervals keep what they promise, as far as this many rows can tell."
    direction = "narrower" if np.mean(gaps) < 0 else "wider"
    return f"The intervals are {direction} than they say, most so at {percent(_worst(output))}."


def _worst(output: RegressionOutput) -> float:
    return float(output.levels[np.argmax(np.abs(output.coverages - output.levels))])


def novelty(doubt: Doubt) -> str:
    """How novel the rows are, in a sentence."""
    share = float(np.mean(doubt.novelty > NOVEL))
    middle = f"{np.median(doubt.novelty):.2f}"
    if share == 0:
        return f"No row is above {NOVEL}; the middle row has {middle}."
    return f"{percent(share)} of the rows are above {NOVEL}; the middle row has {middle}."
