"""Writes a snapshot on a signal, on a file that appears, and after some seconds."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Any

from .notices import guarded, warn

if TYPE_CHECKING:
    from .recorder import Recorder

# Seconds between looks at the file.
TICK = 0.25

# Largest share of the time that snapshots after some seconds take.
SHARE = 0.05

# Signals whose default action is the end that the sender wants.
_ENDING = {getattr(signal, name, None) for name in ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT")}


class Triggers:
    """What asks a recorder for snapshots from outside of the training loop."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.options = recorder.options
        self.ended = threading.Event()
        self.thread: threading.Thread | None = None
        self.before: Any = None
        self.has_handler = False

    def start(self) -> None:
        if self.options.signal is not None:
            self._handle_signal(self.options.signal)
        if self.options.trigger is not None or self.options.seconds > 0:
            # What is there before the recording asks for nothing.
            self.seen = self._touched()
            self.thread = threading.Thread(target=self._watch, name="snapscope", daemon=True)
            self.thread.start()

    @guarded
    def stop(self) -> None:
        self.ended.set()
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(timeout=5)
        number = self.options.signal
        if self.has_handler and number is not None and signal.getsignal(number) == self._arrived:
            if threading.current_thread() is threading.main_thread():
                signal.signal(number, self.before)

    def _handle_signal(self, number: int) -> None:
        if threading.current_thread() is not threading.main_thread():
            warn("signal", "the option signal has no effect, because CUDA was first used outside of the main thread")
            return
        try:
            self.before = signal.signal(number, self._arrived)
            self.has_handler = True
        except (OSError, ValueError) as error:
            warn("signal", f"the option signal has no effect: {error}")

    def _arrived(self, number: int, frame: Any) -> None:
        self.recorder.dump("signal")
        self._as_before(number, frame)

    def _as_before(self, number: int, frame: Any) -> None:
        """Does what the program does on the signal."""
        if callable(self.before):
            self.before(number, frame)
        elif self.before == signal.SIG_DFL and number in _ENDING:
            self.recorder.files.wait()
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    @guarded
    def _watch(self) -> None:
        tick = TICK if self.options.trigger is not None else self.options.seconds
        due = time.monotonic() + self.options.seconds
        while not self.ended.wait(tick):
            touched = self._touched()
            if touched is not None and touched != self.seen:
                self.seen = touched
                self.recorder.dump("trigger")
            if 0 < self.options.seconds and due <= time.monotonic():
                start = time.monotonic()
                self.recorder.dump("rolling")
                took = time.monotonic() - start
                due = time.monotonic() + max(self.options.seconds, took / SHARE)

    def _touched(self) -> int | None:
        """Returns when the file was written last, or None if there is none."""
        try:
            return os.stat(self.options.trigger).st_mtime_ns if self.options.trigger else None
        except OSError:
            return None
