"""A process that executes runs: one line of JSON in, one line of JSON out.

It ends when its standard input does, in the middle of a run if need be: whoever started it is gone.
"""

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any, TextIO

from gfsvi.bench.data.loading import load
from gfsvi.numerics.process import keep_compiled


def main() -> None:
    """Execute what is asked for, until nobody asks any more."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what others print is not an answer
    asked: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    keep_compiled()
    from gfsvi.bench.running.execution import execute, run_from

    _serve(asked, answers, lambda content: execute(run_from(content), load))


def _listen(asked: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        asked.put(line)
    os._exit(0)


def _serve(
    asked: "queue.Queue[str]", answers: TextIO, answer: Callable[[dict[str, Any]], Any]
) -> None:
    while True:
        content = json.loads(asked.get())
        answers.write(json.dumps(answer(content)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
