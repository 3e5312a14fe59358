"""The progress of long work: a bar on a terminal or in a notebook, otherwise plain lines."""

import contextlib
import importlib
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TextIO

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_BARS = 0.5
FEWEST_FOR_ESTIMATE = 0.1
"""The share of the work from which on the time that is left is estimated."""
_WIDTH = 24


class Steps(Protocol):
    """Steps of a stage: how many were taken, and how many there are."""

    @property
    def step(self) -> int:
        """The steps that were taken."""
        ...

    @property
    def num_steps(self) -> int:
        """The steps that there are."""
        ...


class Stage(NamedTuple):
    """A stage in words, and where it begins and ends on the bar, roughly."""

    words: str
    first: float
    last: float


STAGES = {
    "prior": Stage("choosing the prior", 0.0, 0.1),
    "mean": Stage("training the network", 0.1, 0.2),
    "posterior": Stage("fitting the posterior", 0.2, 0.3),
    "folds": Stage("cross-validating", 0.3, 0.4),
    "prior beside trees": Stage("choosing the prior beside trees", 0.4, 0.43),
    "mean beside trees": Stage("training the network beside trees", 0.43, 0.46),
    "posterior beside trees": Stage("fitting the posterior beside trees", 0.46, 0.5),
    "examination": Stage("examining the fit", 0.5, 0.6),
    "page": Stage("writing the page", 0.6, 1.0),
}
"""The stages of a fit, some of which are left out by some methods, as the page is without
`--report`; their shares are those of a default fit of a few hundred rows."""
STAGES_OF_STREAMS = {
    "prior": Stage("choosing the prior", 0.0, 0.05),
    "mean": Stage("training the network", 0.05, 0.2),
    "posterior": Stage("fitting the posterior", 0.2, 0.9),
    "examination": Stage("examining the fit", 0.9, 0.95),
    "page": Stage("writing the page", 0.95, 1.0),
}
"""Those of a table that is read piece by piece; the shares are those of a million rows."""
PREPARATION = "preparing"


class Display:
    """Shows the stages of a fit as one progress; also between steps, while time passes.

    Args:
        stream: Where to write; by default the standard error.
        has_page: Whether a page is written in the end.
        stages: The stages of the fit.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        has_page: bool = False,
        stages: Mapping[str, Stage] = STAGES,
    ):
        self._stages = stages
        self._stream = sys.stderr if stream is None else stream
        self._notebook = _notebook_output() if stream is None else None
        self._is_terminal = self._stream.isatty()
        self._whole = stages["page"].last if has_page else stages["page"].first
        self._began = self._last_line = time.monotonic()
        self._share, self._doing = 0.0, PREPARATION
        self._lock, self._done = threading.RLock(), threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> "Display":
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._ticker.join()
        if self._notebook is not None:
            words = f"done in {time.monotonic() - self._began:.0f} s"
            self._notebook.update(_bundle(words, 1.0), raw=True)
        elif self._is_terminal:
            self._write("\r\x1b[K")

    def watch(self, stage: str, progress: Steps) -> None:
        """Show that a stage has come this far."""
        words, first, last = self._stages[stage]
        share = (first + (last - first) * progress.step / progress.num_steps) / self._whole
        steps = f", step {progress.step} of {progress.num_steps}" if progress.step else ""
        self._share, self._doing = max(self._share, min(share, 1.0)), words + steps
        self._tell()

    def say(self, sentence: str) -> None:
        """Print a remark on its own line."""
        clear = "\r\x1b[K" if self._is_terminal else ""
        self._write(f"{clear}{sentence}\n")

    def _tick(self) -> None:
        while not self._done.wait(min(SECONDS_BETWEEN_BARS, SECONDS_BETWEEN_LINES)):
            self._tell()

    def _tell(self) -> None:
        now = time.monotonic()
        elapsed, bar = now - self._began, "█" * round(_WIDTH * self._share)
        if self._notebook is not None:
            words = f"{self._doing}, {self._left(elapsed)}"
            self._notebook.update(_bundle(words, self._share), raw=True)
        elif self._is_terminal:
            bar = f"{bar:░<{_WIDTH}} {self._share:4.0%}  {self._doing}, {self._left(elapsed)}"
            self._write(f"\r\x1b[K{bar}")
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            self.say(f"{elapsed:4.0f} s  {self._share:4.0%}  {self._doing}, {self._left(elapsed)}")

    def _left(self, elapsed: float) -> str:
        if self._share < FEWEST_FOR_ESTIMATE:
            return f"{elapsed:.0f} s so far"
        left = elapsed * (1 - self._share) / self._share
        return f"about {left:.0f} s left" if left >= 1 else "almost done"

    def _write(self, text: str) -> None:
        with self._lock, contextlib.suppress(ValueError):  # a stream that was closed
            self._stream.write(text)
            self._stream.flush()


def _notebook_output() -> Any:
    """An output of the notebook's cell that can be updated; None elsewhere."""
    if "ipykernel" not in sys.modules:
        return None
    display = importlib.import_module("IPython.display")
    return display.display(_bundle(PREPARATION, 0.0), raw=True, display_id=True)


def _bundle(words: str, share: float) -> dict[str, str]:
    html = f'<progress value="{share:.3f}" style="width: 20em"></progress> {share:.0%} {words}'
    return {"text/plain": f"{share:4.0%}  {words}", "text/html": html}
