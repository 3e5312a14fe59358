"""Puts faults into the mathematics, one at a time, and sees whether tests notice.

python -m mutants --sample 300 [--seed 0] [--module kernels/rbf.py] [--minutes 60]
python -m mutants --again            # only those that no test noticed before
python -m mutants --planted          # the faults of planted.toml, which must all be noticed
python -m mutants --measure          # seconds of test files, which decide their order

Faults that have a record are not tried again, so that a run that was ended can be continued by
the same command. results/mutants has the records and the report.
"""

import argparse
import json
import random
import sys
import time
from collections.abc import Collection, Iterable, Iterator

from mutants import rooms
from mutants.planted import Planted, planted
from mutants.records import Tried, report
from mutants.running import KILLED, SURVIVED, Outcome, outcome_of, outcome_with, warm
from mutants.sites import ROOT, Mutant, mutants_of

MOST_SECONDS = 180.0


def main() -> int:
    """What the arguments ask for; 1 if a fault without a reason was not noticed."""
    arguments = _arguments()
    warm()
    if arguments.measure:
        return _measure()
    if arguments.planted:
        return _plant(planted(arguments.module))
    tried = Tried()
    end = time.monotonic() + 60 * arguments.minutes
    sound: set[str] = set()
    for mutant in _chosen(arguments, tried):
        if time.monotonic() > end:
            break
        tests = rooms.tests_of(mutant.module)
        _check_sound(set(tests) - sound)
        sound.update(tests)
        outcome = outcome_of(mutant, tests, MOST_SECONDS)
        tried.append(mutant, outcome)
        _show(f"{mutant.module}:{mutant.line} {mutant.kind}: {mutant.before[:60]}", outcome)
    text = report(tried)
    (tried.home / "report.md").write_text(text, encoding="utf-8")
    print(text.split("\n\n")[1])
    return 0 if "no test yet" not in text else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--module", action="append", default=[])
    for word in ("again", "planted", "measure"):
        parser.add_argument(f"--{word}", action="store_true")
    return parser.parse_args()


def _chosen(arguments: argparse.Namespace, tried: Tried) -> Iterator[Mutant]:
    """Faults chosen at random that are still to be tried."""
    wanted = arguments.module or list(rooms.modules())
    known = [mutant for module in wanted for mutant in mutants_of(module)]
    records = tried.read()
    if arguments.again:
        survived = {name for name, record in records.items() if record["outcome"] == SURVIVED}
        yield from (mutant for mutant in known if mutant.identity in survived)
        return
    sample = random.Random(arguments.seed).sample(known, min(arguments.sample, len(known)))
    yield from (mutant for mutant in sample if mutant.identity not in records)


def _plant(faults: Iterable[Planted]) -> int:
    """Try the faults that have a name; the number of those that no test noticed."""
    num_left, sound = 0, set[str]()
    for fault in faults:
        _check_sound(set(fault.tests) - sound)
        sound.update(fault.tests)
        outcome = outcome_with(fault.module, fault.code(), fault.tests, MOST_SECONDS)
        num_left += outcome.outcome == SURVIVED
        _show(fault.name, outcome)
    print(f"not noticed: {num_left}")
    return min(1, num_left)


def _check_sound(tests: Collection[str]) -> None:
    """Raise if tests fail without a fault: then they would notice everything."""
    if not tests:
        return
    outcome = outcome_with("nothing.py", None, sorted(tests), 10 * MOST_SECONDS)
    if outcome.outcome != SURVIVED:
        raise RuntimeError(f"expected {', '.join(tests)} to pass without a fault; got {outcome}.")


def _measure() -> int:
    """Write down the seconds that each test file takes, all of which have to pass."""
    path = ROOT / rooms.MEASURED
    path.parent.mkdir(parents=True, exist_ok=True)
    seconds = json.loads(path.read_text()) if path.exists() else {}
    for name in rooms.all_tests():
        if name in seconds:
            continue
        outcome = outcome_with("nothing.py", None, [name], 10 * MOST_SECONDS)
        _show(name, outcome)
        if outcome.outcome == KILLED:
            print(f"expected {name} to pass without a fault; got a failure.", file=sys.stderr)
            continue
        seconds[name] = round(outcome.seconds, 1)
        path.write_text(json.dumps(seconds, indent=1, sort_keys=True) + "\n")
    return 0


def _show(what: str, outcome: Outcome) -> None:
    print(f"{outcome.outcome:9}{outcome.seconds:6.1f} s  {what}  [{outcome.by}]", flush=True)


if __name__ == "__main__":
    sys.exit(main())
