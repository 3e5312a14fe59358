"""One finding about a fit."""

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """What was found, what it means, and which argument to change.

    Args:
        name: A short identifier that stays the same between releases.
        severity: A note is worth knowing; a warning says that predictions may mislead.
        title: The finding in a few words.
        message: What it means, with the numbers that were measured.
        remedy: What to change.
    """

    name: str
    severity: Literal["note", "warning"]
    title: str
    message: str
    remedy: str

    def __str__(self) -> str:
        message, remedy = self.message.rstrip("."), self.remedy.rstrip(".")
        return f"{self.severity}: {self.title}: {_lower(message)}; {_lower(remedy)}."


def _lower(sentence: str) -> str:
    """A sentence that continues another one; acronyms such as MLP keep their case."""
    is_word = sentence[1:2].islower() or sentence[1:2] == " "
    return sentence[:1].lower() + sentence[1:] if is_word else sentence


def share(value: float) -> str:
    """A share as a percentage that is never rounded to zero."""
    return f"{100 * value:.3g} %"
