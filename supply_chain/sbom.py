"""Writes a software bill of materials of requirements.lock: CycloneDX, JSON.

python -m supply_chain.sbom [FILE]

Packages that `pip install gfsvi` brings are required, those of extras and development optional. The
same lock gives the same bytes.
"""

import hashlib
import importlib.metadata
import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

from supply_chain.lock import LOCK, Package, packages

FILE = Path("build/sbom.json")


def bill(locked: list[Package], lock: bytes) -> dict[str, Any]:
    """The bill of these packages."""
    required = needed("gfsvi")
    version = importlib.metadata.version("gfsvi")
    identity = uuid.uuid5(uuid.NAMESPACE_OID, hashlib.sha256(lock).hexdigest())
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{identity}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": "gfsvi",
                "name": "gfsvi",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [component(package, required) for package in locked],
    }


def component(package: Package, required: set[str]) -> dict[str, Any]:
    """One package; its hashes are those of all files that the index has of this version."""
    purl = f"pkg:pypi/{canonical(package.name)}@{package.version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": package.name,
        "version": package.version,
        "purl": purl,
        "scope": "required" if canonical(package.name) in required else "optional",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.hashes],
    }


def needed(name: str) -> set[str]:
    """The installed packages that a package needs without extras, directly or through others."""
    found: set[str] = set()
    left = [name]
    while left:
        for requirement in importlib.metadata.requires(left.pop()) or ():
            other = canonical(re.match(r"[A-Za-z0-9._-]+", requirement)[0])  # pyright: ignore[reportOptionalSubscript]
            if "extra ==" not in requirement and other not in found and _is_installed(other):
                found.add(other)
                left.append(other)
    return found


def canonical(name: str) -> str:
    """The name as the index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _is_installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def main() -> None:
    """Write the bill."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bill(packages(), LOCK.read_bytes()), indent=1) + "\n")
    print(f"bill of materials: {path}")


if __name__ == "__main__":
    main()
