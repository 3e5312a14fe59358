"""Lists known vulnerabilities of the packages in requirements.lock, by pip-audit.

python -m supply_chain.audit

pip-audit is run by uv, which fetches it for the occasion. Ends with 0 if nothing is known, with 1
if something is, and with 2 if nobody could be asked.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from supply_chain.lock import LOCK, packages

TOOL = "pip-audit==2.10.1"
OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner", "off", "--format", "json")
NOTHING_KNOWN, SOMETHING_KNOWN, NOBODY_ASKED = 0, 1, 2


def asked() -> list[dict[str, Any]] | None:
    """What is known about each package; None if the index cannot be asked."""
    uv = Path(sys.executable).with_name("uv")
    command = [str(uv), "tool", "run", "--quiet", "--from", TOOL, "pip-audit", "-r", str(LOCK)]
    try:
        done = subprocess.run([*command, *OPTIONS], capture_output=True, text=True, timeout=600)
        return json.loads(done.stdout)["dependencies"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return None


def told(answers: list[dict[str, Any]] | None, num_packages: int) -> tuple[int, list[str]]:
    """The exit code, and what to print."""
    found = [answer for answer in answers or () if "vulns" in answer]
    if not found:
        sentence = (
            f"audit: expected the index to know vulnerabilities of {num_packages} packages; it "
            "could not be asked. Run `make audit` where the public package index can be reached."
        )
        return NOBODY_ASKED, [sentence]
    lines = [
        f"{answer['name']} {answer['version']}: {known['id']}, fixed in "
        f"{', '.join(known.get('fix_versions') or ['no version yet'])}"
        for answer in found
        for known in answer["vulns"]
    ]
    summary = (
        f"audit: {len(lines)} known vulnerabilities in {len(found)} of {num_packages} packages"
    )
    return (SOMETHING_KNOWN if lines else NOTHING_KNOWN), [
        *lines,
        f"{summary} that were looked up.",
    ]


def main() -> int:
    """Ask and tell."""
    status, lines = told(asked(), len(packages()))
    print("\n".join(lines))
    return status


if __name__ == "__main__":
    sys.exit(main())
