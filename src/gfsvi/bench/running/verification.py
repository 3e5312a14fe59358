"""Runs repeated and compared with their records."""

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from gfsvi.bench.experiment import Run
from gfsvi.bench.running.execution import environment
from gfsvi.bench.running.records import OK, Environment, Record
from gfsvi.bench.running.runner import Worker

TOLERANCE = 1e-6
"""Numbers that differ by less, relative to the larger one or absolutely, count as equal."""
WORDS = {
    "commit": "commit",
    "lock": "locked versions",
    "jax": "JAX",
    "numpy": "NumPy",
    "python": "Python",
    "processor": "processor",
    "machine": "kind of machine",
    "cores": "number of cores",
}
_OF_CLOCKS = ("seconds", "milliseconds")


class Difference(NamedTuple):
    """A number of a record and what it is today."""

    metric: str
    recorded: float
    found: float

    def __str__(self) -> str:
        return f"{self.metric} {self.recorded:.7g} is {self.found:.7g} now"


class Verified(NamedTuple):
    """A record beside a repetition of its run.

    Args:
        record: What was recorded.
        repeated: What the same run gives today.
        differences: The numbers that differ, the largest difference first.
        reasons: What is not as it was then and may be why.
    """

    record: Record
    repeated: Record
    differences: tuple[Difference, ...]
    reasons: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        return self.repeated["status"] == OK and not self.differences

    @property
    def sentence(self) -> str:
        """The outcome in words, with the reason if there is a difference."""
        if self.is_equal:
            return f"equal to {TOLERANCE:g}"
        if self.repeated["status"] != OK:
            what = f"fails now: {self.repeated.get('error')}"
        else:
            more = len(self.differences) - 1
            what = f"differs: {self.differences[0]}" + (f" and {more} more" if more else "")
        why = "; ".join(self.reasons) or "versions, commit and processor are the same"
        return f"{what} ({why})"


def sampled(runs: Iterable[Run], records: Iterable[Record], size: int, seed: int) -> list[Run]:
    """Runs with a successful record, chosen at random; all of them if there are fewer."""
    good = {record["run"] for record in records if record["status"] == OK}
    known = sorted((run for run in runs if run.identity in good), key=lambda run: run.identity)
    return random.Random(seed).sample(known, min(size, len(known)))


def verified(runs: Sequence[Run], records: Iterable[Record], worker: Worker) -> Iterator[Verified]:
    """Repeat runs one after the other and compare each with its record."""
    by_run = {record["run"]: record for record in records}
    for run in runs:
        record, repeated = by_run[run.identity], worker(run)
        yield Verified(record, repeated, _differences(record, repeated), _reasons(record))


def _differences(record: Record, repeated: Record) -> tuple[Difference, ...]:
    """The metrics that are not equal; those of a clock are never compared."""
    recorded, found = record["metrics"], repeated["metrics"]
    names = [name for name in recorded if not any(word in name for word in _OF_CLOCKS)]
    pairs = [Difference(name, recorded[name], found.get(name, math.nan)) for name in names]
    differing = [pair for pair in pairs if not _are_equal(pair.recorded, pair.found)]
    return tuple(sorted(differing, key=_size, reverse=True))


def _are_equal(first: float, second: float) -> bool:
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _size(pair: Difference) -> float:
    size = abs(pair.found - pair.recorded) / max(1.0, abs(pair.recorded))
    return math.inf if math.isnan(size) else size


def _reasons(record: Record) -> tuple[str, ...]:
    """What differs between the circumstances of a record and today's."""
    then: Environment | None = record.get("environment")
    if then is None:
        return ("the record does not say where it was made",)
    now = environment()
    return tuple(
        f"the record is of before {words} was recorded"
        if then.get(name) is None
        else f"{words} {then[name]} then, {now[name]} now"
        for name, words in WORDS.items()
        if then.get(name) != now.get(name)
    )
