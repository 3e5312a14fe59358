"""Progress of a fit: a bar on a terminal, otherwise plain lines."""

import signal
import sys
import time
from types import FrameType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from gfsvi.training.settings import Progress

# Where each phase begins and ends on the bar, roughly; kernel families share the first.
PHASES = {"prior": (0.0, 0.3), "mean": (0.3, 0.5), "posterior": (0.5, 1.0)}
SECONDS_BETWEEN_LINES = 5.0


class Reporter:
    """Shows the progress of a fit and, on Ctrl-C, stops it with the best model so far."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None):
        self._stream = sys.stderr if stream is None else stream
        self._quiet = quiet
        self._on_terminal = self._stream.isatty()
        self._began = time.monotonic()
        self._last_line = self._began
        self._share = 0.0
        self._interrupted = self._quitting = False

    def __enter__(self) -> "Reporter":
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)
        if self._on_terminal and not self._quiet:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
        self._check_quitting()

    def watch(self, phase: str, progress: "Progress") -> bool:
        """Show progress; True asks the fit to stop."""
        self._check_quitting()
        first, last = PHASES[phase]
        share = first + (last - first) * progress.step / progress.num_steps
        self._share = max(self._share, share)
        if not self._quiet:
            self._tell(phase, progress)
        return self._interrupted

    def say(self, sentence: str) -> None:
        """Print a remark on its own line."""
        if not self._quiet:
            clear = "\r\x1b[K" if self._on_terminal else ""
            print(f"{clear}{sentence}", file=self._stream, flush=True)

    def _tell(self, phase: str, progress: "Progress") -> None:
        now = time.monotonic()
        elapsed = now - self._began
        left = elapsed * (1 - self._share) / max(self._share, 1e-3)
        if self._on_terminal:
            bar = "█" * round(24 * self._share) + "░" * (24 - round(24 * self._share))
            self._stream.write(f"\r\x1b[K{bar} {self._share:4.0%}  {phase}  {left:3.0f} s left")
            self._stream.flush()
        elif now - self._last_line >= SECONDS_BETWEEN_LINES:
            self._last_line = now
            self.say(
                f"{elapsed:4.0f} s  {self._share:4.0%}  {phase}, step {progress.step} of "
                f"{progress.num_steps}, about {left:.0f} s left"
            )

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._interrupted:  # the second time: stop at once, without a model
            self._quitting = True
            raise KeyboardInterrupt
        self._interrupted = True
        self.say("stopping with the best model so far; press Ctrl-C again to quit without it")

    def _check_quitting(self) -> None:
        """Raise what Python ignores if the second Ctrl-C comes in a callback or a destructor."""
        if self._quitting:
            raise KeyboardInterrupt
