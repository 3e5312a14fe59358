"""Sentences about the prior: what was assumed before the data were seen."""

import dataclasses
from collections.abc import Sequence

from gfsvi.auto.composition import Composition
from gfsvi.numerics.quantities import time_text
from gfsvi.report.evidence import Distance, KernelPart, LengthScale, PriorEvidence, Task
from gfsvi.report.formatting import PERCENT, between, listed, number, percent, quoted

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


def composition(found: Composition, task: Task = "regression") -> str:
    """Which network the prior is about, if another builds on trees or another regressor."""
    is_trees = found.built_on == "trees"
    what = "trees" if is_trees else quoted(found.built_on)
    learns = f"learns what {what} {'leave' if is_trees else 'leaves'} unexplained"
    if task == "classification":
        learns = f"also sees the scores that {what} give each class"
    chosen = " Rows that had not been seen were most probable this way." if is_trees else ""
    if found.share >= 1:
        return (
            f"Predictions build on {what}: the network {learns}.{chosen} The prior described here "
            f"is that of a network without {what}, which was not kept."
        )
    return (
        f"Predictions mix two networks. One, with {percent(1 - found.share)} of the weight, has "
        f"the prior described here; the other, with {percent(found.share)}, {learns}.{chosen}"
    )
