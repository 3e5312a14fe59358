"""What a command says while it works, and how it is stopped."""

import contextlib
import signal
from collections.abc import Mapping
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from gfsvi.numerics.progress import STAGES, Display, Stage

if TYPE_CHECKING:
    from gfsvi.training.settings import Progress


class Reporter:
    """Shows the progress of a fit and, on Ctrl-C, stops it with the best model so far."""

    def __init__(
        self,
        *,
        quiet: bool = False,
        has_page: bool = False,
        stream: TextIO | None = None,
        stages: Mapping[str, Stage] = STAGES,
    ):
        display = None if quiet else Display(stream, has_page=has_page, stages=stages)
        self._display = display
        self._shown = contextlib.ExitStack()
        self._interrupted = self._quitting = False

    def __enter__(self) -> "Reporter":
        self._previous = signal.signal(signal.SIGINT, self._interrupt)
        if self._display is not None:
            self._shown.enter_context(self._display)
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.close()
        signal.signal(signal.SIGINT, self._previous)
        self._check_quitting()

    def watch(self, stage: str, progress: "Progress") -> bool:
        """Show progress; True asks the fit to stop."""
        self._check_quitting()
        if self._display is not None:
            self._display.watch(stage, progress)
        return self._interrupted

    def say(self, sentence: str) -> None:
        """Print a remark on its own line."""
        if self._display is not None:
            self._display.say(sentence)

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
