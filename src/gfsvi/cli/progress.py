"""How far a fit has come: a bar on a terminal, plain lines elsewhere."""

import signal
import sys
import time
from types import FrameType
from typing import TextIO

from gfsvi.training.settings import Progress

# What part of the whole a stage takes, roughly; families of kernels share the first.
STAGES = {"prior": (0.0, 0.3), "mean": (0.3, 0.5), "posterior": (0.5, 1.0)}
SECONDS_BETWEEN_LINES = 5.0


class Reporter:
    """Tells of the progress of a fit, and stops it on Ctrl-C with what it has found."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None):
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._on_terminal = self._stream.isatty()
        self._began = time.monotonic()
        self._last_line = self._began
        self._share = 0.0
        self._interrupted = False

    def __enter__(self) -> "Reporter":
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)
        if self._on_terminal and not self._quiet:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def watch(self, stage: str, progress: Progress) -> bool:
        """Called now and then by the estimator; True stops it."""
        first, last = STAGES[stage]
        share = first + (last - first) * progress.step / progress.num_steps
        self._share = max(self._share, share)
        if not self._quiet:
            self._tell(stage, progress)
        return self._interrupted

    def say(self, sentence: str) -> None:
        """A remark on a line of its own."""
        if not self._quiet:
            clear = "\r\x1b[K" if self._on_terminal else ""
            print(f"{clear}{sentence}", file=self._stream, flush=True)

    def _tell(self, stage: str, progress: Progress) -> None:
        now = time.monotonic()
        elapsed = now - self._began
        left = elapsed * (1 - self._share) / max(self._share, 1e-3)
        if self._on_terminal:
            bar = "█" * round(24 * self._share) + "░" * (24 - round(24 * self._share))
            self._stream.write(f"\r\x1b[K{bar} {self._share:4.0%}  {stage}  {left:3.0f} s left")
            self._stream.flush()
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            self.say(
                f"{elapsed:4.0f} s  {self._share:4.0%}  {stage}, step {progress.step} of "
                f"{progress.num_steps}, about {left:.0f} s left"
            )

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:  # asked twice: at once, without a model
            raise KeyboardInterrupt
        self._interrupted = True
        self.say("stopping with the best model so far; Ctrl-C again leaves without it")
