"""Tries hostile inputs of every kind for some minutes, and keeps seeds and failures.

python -m fuzz --minutes 10 [--kind tables] [--seed 7]

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

from fuzz.corpus import make_models
from fuzz.engine import ACCEPTED, HOME, REFUSED, Kind, tried, tried_for

KINDS = ("tables", "parameters", "model_files", "experiments", "records", "checkpoints")
ROUND_SECONDS = 60


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


def main() -> int:
    """Try inputs until the time is over; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--inputs", type=int, help="so many of each kind, instead of minutes")
    parser.add_argument("--kind", action="append", choices=KINDS, help="repeat for several")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=ROUND_SECONDS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    left = list(arguments.kind or KINDS)
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    end = time.monotonic() + 60 * arguments.minutes
    totals: dict[str, Counter[str]] = {name: Counter() for name in left}
    if "model_files" in left:
        make_models()
    failed = False
    while left and (arguments.inputs or time.monotonic() < end):
        for name in list(left):
            share = min(ROUND_SECONDS, max(5.0, (end - time.monotonic()) / len(left)))
            words = ("--inputs", str(arguments.inputs)) if arguments.inputs else ()
            outcomes, failure = one_round(name, seed, "--seconds", str(share), *words)
            totals[name] += outcomes
            keep(name, seed, outcomes, failure)
            failed |= bool(failure)
            if failure or arguments.inputs:
                left.remove(name)
        seed += 1000
    for name, outcomes in totals.items():
        told = ", ".join(f"{outcomes[key]} {key}" for key in (ACCEPTED, REFUSED))
        print(f"{name:<12} {outcomes.total():>7} inputs: {told}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
