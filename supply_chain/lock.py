"""The packages of requirements.lock, with the hashes of their files."""

import re
from pathlib import Path
from typing import NamedTuple

LOCK = Path("requirements.lock")


class Package(NamedTuple):
    """A locked package."""

    name: str
    version: str
    hashes: tuple[str, ...]


def packages(path: Path = LOCK) -> list[Package]:
    """The packages of a lock; raises if one has no hash."""
    found = []
    entries = re.split(r"\n(?=\S)", path.read_text().replace("\\\n", " "))
    for entry in entries:
        if (match := re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", entry)) is not None:
            hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", entry))
            if not hashes:
                raise ValueError(
                    f"expected hashes of {match[0]} in {path}; got none. Run make lock."
                )
            found.append(Package(match[1], match[2], hashes))
    return found
