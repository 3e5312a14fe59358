"""Records of faults that were tried, the reasons for those that may stay, and a report."""

import json
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from mutants.running import SURVIVED, Outcome
from mutants.sites import ROOT, Mutant

HOME = ROOT / "results" / "mutants"


class Tried:
    """The faults that were tried, one line of JSON each; the last line of a fault counts."""

    def __init__(self, home: Path = HOME):
        self.home = home
        self._path = home / "records.jsonl"

    def read(self) -> dict[str, dict[str, Any]]:
        """Records by identity."""
        if not self._path.exists():
            return {}
        whole = self._path.read_text(encoding="utf-8").rpartition("\n")[0]
        return {record["mutant"]: record for record in map(json.loads, whole.splitlines())}

    def append(self, mutant: Mutant, outcome: Outcome) -> None:
        """Write down what became of a fault."""
        record = {
            **{"mutant": mutant.identity, "module": mutant.module, "line": mutant.line},
            **{"kind": mutant.kind, "before": mutant.before, "after": mutant.after},
            **{"outcome": outcome.outcome, "by": outcome.by, "seconds": round(outcome.seconds, 2)},
        }
        self.home.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    @property
    def reasons(self) -> dict[str, str]:
        """Why a fault that no test notices may stay, by identity."""
        path = self.home / "kept.toml"
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def report(tried: Tried) -> str:
    """What share was noticed, by room and by kind of fault, and what was not."""
    records, reasons = list(tried.read().values()), tried.reasons
    survivors = [record for record in records if record["outcome"] == SURVIVED]
    lines = [
        "# Faults in the mathematics",
        "",
        f"{len(records)} faults of one place each, chosen at random; tests noticed "
        f"{_share(records)}. `make mutants` goes on where these records end; `kept.toml` has the "
        "reasons for those that may stay.",
        "",
        *_table("room", records, lambda record: record["module"].partition("/")[0]),
        "",
        *_table("kind", records, lambda record: record["kind"]),
        "",
        "## Not noticed",
        "",
    ]
    for record in sorted(survivors, key=lambda record: (record["module"], record["line"])):
        reason = reasons.get(record["mutant"], "no test yet")
        where = f"{record['module']}:{record['line']} ({record['mutant']})"
        change = f"`{_short(record['before'])}` -> `{_short(record['after'])}`"
        lines.append(f"* {where}: {record['kind']}, {change}: {reason}")
    return "\n".join(lines) + "\n"


def _share(records: list[dict[str, Any]]) -> str:
    noticed = sum(record["outcome"] != SURVIVED for record in records)
    share = 100 * noticed / max(1, len(records))
    return f"{noticed} of {len(records)} ({share:.1f} %)"


def _table(name: str, records: list[dict[str, Any]], of: Any) -> list[str]:
    lines = [f"| {name} | noticed |", "|---|---|"]
    for key, _ in Counter(map(of, records)).most_common():
        lines.append(f"| {key} | {_share([r for r in records if of(r) == key])} |")
    return lines


def _short(text: str, most: int = 80) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."
