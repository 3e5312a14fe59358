"""Faults that have a name: those that a referee would look for, with the tests to notice them."""

import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from mutants.sites import SOURCE

LIST = Path(__file__).with_name("planted.toml")


class Planted(NamedTuple):
    """A fault as a replacement of text that occurs once in a module."""

    name: str
    module: str
    old: str
    new: str
    tests: tuple[str, ...]

    def code(self) -> CodeType:
        """The module with the fault."""
        path = SOURCE / self.module
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"expected the text of the fault {self.name!r} once in {self.module}; got it "
                f"{text.count(self.old)} times. Bring mutants/planted.toml up to date."
            )
        return compile(text.replace(self.old, self.new), str(path), "exec")


def planted(modules: Collection[str] = ()) -> Iterator[Planted]:
    """The faults in the list, of all modules or of those that are named."""
    for fault in tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"]:
        tests = tuple(f"tests/{name}" for name in fault["tests"])
        found = Planted(fault["name"], fault["module"], fault["old"], fault["new"], tests)
        if not modules or found.module in modules:
            yield found
