"""Tries hostile inputs of every kind for some minutes, and keeps seeds and failures.

python -m fuzz --minutes 10 [--kind tables] [--seed 7] [--output results/fuzz.json]
python -m fuzz --inputs 2000 [--kind experiments] ...
python -m fuzz --total 20000 --kind model_files --seed 1 --output results/fuzz.json

With `--total`, inputs that the file of counts already has count, so that a run that was ended can
be continued by the same command; seeds go on where they were.

Every minute or so is a process of its own, so that a crash costs no more than that. What failed is
made as small as possible, printed and written to build/fuzz/failures; build/fuzz/examples keeps it,
and the next run begins with it. build/fuzz/history.jsonl has the seeds.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

from fuzz.corpus import make_models
from fuzz.engine import ACCEPTED, HOME, REFUSED, Kind, tried, tried_for

KINDS = (
    *("tables", "parameters", "model_files", "experiments", "records", "checkpoints"),
    "requests",
)
ROUND_SECONDS, ROUND_INPUTS = 60, 500


def kind_of(name: str) -> Kind:
    """The kind of inputs of that name."""
    return importlib.import_module(f"fuzz.{name}").KIND


def worker(arguments: argparse.Namespace) -> int:
    """Try inputs here; the last line that is printed counts them."""
    found: Counter[str] = Counter()
    for name in arguments.kind:
        kind = kind_of(name)
        try:
            if arguments.inputs:
                with kind.around():
                    outcomes = tried(kind, num_inputs=arguments.inputs, seed=arguments.seed)
            else:
                outcomes = tried_for(kind, seconds=arguments.seconds, seed=arguments.seed)
        except Exception:
            traceback.print_exc()
            return 1
        found += Counter({f"{name} {outcome}": count for outcome, count in outcomes.items()})
    print(json.dumps(found))
    return 0


def one_round(name: str, seed: int, *words: str) -> tuple[Counter[str], str]:
    """What became of the inputs of one process, and what it said if it failed."""
    command = [sys.executable, "-m", "fuzz", "--worker", "--kind", name, "--seed", str(seed)]
    environment = os.environ | {"GFSVI_CACHE": str(HOME.absolute() / "cache")}
    done = subprocess.run(
        [*command, *words], capture_output=True, text=True, env=environment, errors="replace"
    )
    if done.returncode == 0:
        counts = json.loads(done.stdout.splitlines()[-1])
        return Counter({key.partition(" ")[2]: count for key, count in counts.items()}), ""
    return Counter(), f"{name}, seed {seed}, ended with {done.returncode}:\n{done.stderr[-6000:]}"


def keep(name: str, seed: int, outcomes: Counter[str], failure: str) -> None:
    """Note what was tried, and what failed."""
    (HOME / "failures").mkdir(parents=True, exist_ok=True)
    entry = {"kind": name, "seed": seed, "outcomes": outcomes, "failed": bool(failure)}
    with (HOME / "history.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")
    if failure:
        (HOME / "failures" / f"{name}-{seed}.txt").write_text(failure)
        print(failure, file=sys.stderr)


def known_counts(path: Path | None) -> dict[str, dict[str, int]]:
    """What a file of counts has by kind; nothing if there is none."""
    return {} if path is None or not path.exists() else json.loads(path.read_text())


def record(path: Path, totals: dict[str, Counter[str]], failed: Collection[str]) -> None:
    """Add what was tried to a file of counts by kind."""
    known = known_counts(path)
    for name, outcomes in totals.items():
        before = known.get(name, {})
        counted = {key: before.get(key, 0) + outcomes[key] for key in (ACCEPTED, REFUSED)}
        failures = before.get("failures", 0) + (name in failed)
        known[name] = {"inputs": sum(counted.values()), **counted, "failures": failures}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")


def rounds(arguments: argparse.Namespace, left: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """The kinds of inputs in turn, each with the options of one round, until all are done."""
    if arguments.total:
        while pending := _pending(arguments, left):
            for name, count in pending.items():
                yield name, ["--inputs", str(count)]
        return
    if arguments.inputs:
        for done in range(0, arguments.inputs, ROUND_INPUTS):
            for name in [name for name in KINDS if name in left]:
                yield name, ["--inputs", str(min(ROUND_INPUTS, arguments.inputs - done))]
        return
    end = time.monotonic() + 60 * arguments.minutes
    while left and time.monotonic() < end:
        for name in [name for name in KINDS if name in left]:
            share = min(ROUND_SECONDS, max(5.0, (end - time.monotonic()) / len(left)))
            yield name, ["--seconds", str(share)]


def _pending(arguments: argparse.Namespace, left: Collection[str]) -> dict[str, int]:
    """The kinds of which there are fewer inputs than wanted, each with the size of a round."""
    known = known_counts(arguments.output)
    missing = {n: arguments.total - known.get(n, {}).get("inputs", 0) for n in KINDS if n in left}
    return {name: min(ROUND_INPUTS, count) for name, count in missing.items() if count > 0}


def _first_seed(arguments: argparse.Namespace) -> int:
    """The seed that is given, moved on by what was counted before, or one of its own."""
    if arguments.seed is None:
        return int(time.time())
    known = known_counts(arguments.output) if arguments.total else {}
    return arguments.seed + 1000 * sum(one["inputs"] for one in known.values())


def main() -> int:
    """Try inputs until the time is over; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--inputs", type=int, help="so many of each kind, instead of minutes")
    parser.add_argument(
        "--total", type=int, help="so many of each kind, those in --output included"
    )
    parser.add_argument("--kind", action="append", choices=KINDS, help="repeat for several")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--output", type=Path, help="a file to which the counts are added")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=ROUND_SECONDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    if arguments.total and arguments.output is None:
        parser.error("--total expects --output, a file that has the counts")
    left = set(arguments.kind or KINDS)
    seed = _first_seed(arguments)
    totals: dict[str, Counter[str]] = {name: Counter() for name in KINDS if name in left}
    failed: set[str] = set()
    if "model_files" in left:
        make_models()
    for name, words in rounds(arguments, left):
        outcomes, failure = one_round(name, seed, *words)
        totals[name] += outcomes
        keep(name, seed, outcomes, failure)
        if failure:
            failed.add(name)
            left.discard(name)
        if arguments.output is not None:
            record(arguments.output, {name: outcomes}, {name} if failure else ())
        seed += 1000
    for name, outcomes in totals.items():
        told = ", ".join(f"{outcomes[key]} {key}" for key in (ACCEPTED, REFUSED))
        print(f"{name:<12} {outcomes.total():>7} inputs: {told}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
