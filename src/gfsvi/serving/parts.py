"""What a model file holds, before it is known whether NumPy can evaluate it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

T = TypeVar("T")


class NotServed(Exception):
    """A model that needs JAX."""


class Part(SimpleNamespace):
    """An object of a model file: its tag, and its fields as attributes."""

    tag: str

    def __getattr__(self, name: str) -> Any:
        # A field that this version does not expect to be missing; the whole library explains why.
        raise NotServed(f"{self.tag} without {name}")

    def expect(self, *tags: str) -> "Part":
        """This part, if it is of one of these kinds."""
        return chosen(self, dict.fromkeys(tags, self))


def part_maker(tag: str) -> Callable[[dict[str, Any]], Part]:
    """Makes parts with this tag from their fields."""

    def made(fields: dict[str, Any]) -> Part:
        # Names of Python's own, and of a part's: no class of the library has such fields.
        if any(name.startswith("_") or hasattr(Part, name) or name == "tag" for name in fields):
            raise NotServed(f"fields of {tag}")
        return Part(**fields, tag=tag)

    return made


def chosen(part: Part, by_tag: dict[str, T]) -> T:
    """What belongs to the tag of a part."""
    if not isinstance(part, Part) or part.tag not in by_tag:
        raise NotServed(str(getattr(part, "tag", part)))
    return by_tag[part.tag]
