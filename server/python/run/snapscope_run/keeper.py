"""Waits for the command to stop the run, and writes a snapshot from time to time."""

import os
import select
import signal
import threading
import time


class Keeper:
    """A thread that reads the pipe of the command; the pipe ends when the command stops the run or dies."""

    # Time until the first snapshot in seconds, to which it grows, and the largest share of it that a snapshot takes.
    FIRST = 1.0
    LAST = 10.0
    SHARE = 0.05

    def __init__(self, run, roll, stop):
        self.run = run
        self.roll = roll
        self.stop = stop
        self.started = False

    def start(self):
        pipe = os.open(os.path.join(self.run, "keep"), os.O_RDONLY | os.O_NONBLOCK)
        thread = threading.Thread(target=self._wait, args=(pipe,), name="snapscope", daemon=True)
        thread.start()
        self.started = True
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminated)

    def _wait(self, pipe):
        poll = select.poll()
        poll.register(pipe, select.POLLIN | select.POLLHUP)
        pause = self.FIRST
        while not poll.poll(pause * 1000):
            start = time.monotonic()
            self.roll()
            pause = max(min(2 * pause, self.LAST), (time.monotonic() - start) / self.SHARE)
        self.stop(self._reason())

    def _reason(self):
        try:
            with open(os.path.join(self.run, "stop"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            return "abandoned"

    def _terminated(self, number, frame):
        self.stop("terminated")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
