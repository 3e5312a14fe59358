"""The process of a full fit: a job on standard input, its progress as lines of JSON on output."""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from gfsvi.auto import Learner, Parameters
from gfsvi.numerics.process import prepare_jax
from gfsvi.numerics.progress import STAGES, Steps
from gfsvi.report import write_page
from gfsvi.tables import Preparation
from gfsvi.tables.reading import TableFile


class _Teller:
    """Writes progress, and listens for the word that stops the fit."""

    def __init__(self) -> None:
        self._stopped = False
        threading.Thread(target=self._listen, daemon=True).start()

    def watch(self, stage: str, progress: Steps) -> bool:
        """Tell how far a stage is; True asks the fit to stop."""
        words, first, last = STAGES[stage]
        share = first + (last - first) * progress.step / max(progress.num_steps, 1)
        if self._stopped:
            words = f"stopping: {words}"
        tell(stage=words, share=round(share, 3))
        return self._stopped

    def _listen(self) -> None:
        for line in sys.stdin:
            self._stopped = self._stopped or line.strip() == "stop"
        os._exit(1)  # the studio is gone


def tell(**what: Any) -> None:
    """Write one line."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def fit(job: dict[str, Any], teller: _Teller) -> None:
    """Fit the table of a job, and write model and page."""
    folder = Path(job["folder"])
    frame = TableFile(folder / job["table"]).frame()
    preparation = Preparation.learn(frame, job["target"], "regression")
    table = preparation.prepare(frame)
    prepare_jax(len(frame))
    parameters = Parameters(
        kernel=job["kernel"],
        likelihood="normal",
        held_out="none",
        hidden=tuple(job["hidden"]),
        random_state=0,
        watch=teller.watch,
    )
    fitted = Learner("regression", parameters).learn_table(table, preparation)
    for diagnostic in fitted.diagnostics:
        tell(remark=str(diagnostic))
    fitted.save(folder / "model.gfsvi", parameters)
    page = folder / "report.html"
    write_page(fitted, table, page, table=job["title"], command=job["command"], watch=teller.watch)


def main() -> None:
    """Do one job."""
    job = json.loads(sys.stdin.readline())
    teller = _Teller()
    try:
        fit(job, teller)
        tell(stage="done", share=1.0, state="done")
    except (ValueError, TypeError, ArithmeticError, OSError, MemoryError, RuntimeError) as error:
        tell(state="failed", sentence=" ".join(str(error).split()))


if __name__ == "__main__":
    main()
