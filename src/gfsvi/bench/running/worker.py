"""A process that executes runs: one line of JSON in, one line of JSON out.

It exits when its standard input closes, even during a run, because its parent is then gone.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import TextIO

from gfsvi.bench.data.loading import load
from gfsvi.bench.experiment import Settings
from gfsvi.bench.running.records import Record
from gfsvi.numerics.process import keep_compiled


def main() -> None:
    """Execute runs read from standard input until it closes."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # keep other output out of the answers
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    keep_compiled()
    from gfsvi.bench.running.execution import execute, run_from

    _serve(requests, answers, lambda content: execute(run_from(content), load))


def _listen(requests: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)


def _serve(
    requests: "queue.Queue[str]", answers: TextIO, answer: Callable[[Settings], Record]
) -> None:
    while True:
        content = json.loads(requests.get())
        answers.write(json.dumps(answer(content)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
