"""Waits for the command to stop the run, and writes a snapshot from time to time."""

import os
import select
import signal
import threading
import time

from .notices import guarded, tried


class Keeper:
    """A thread that reads the pipe of the command; the pipe ends when the command stops the run or dies."""

    # Shortest time before a snapshot in seconds, and share of the run's time in which this thread makes them.
    PAUSE = 1.0
    SHARE = 0.03

    def __init__(self, run, roll, events, stop):
        self.run = run
        self.roll = roll
        self.events = events
        self.stop = stop
        self.started = False

    def start(self):
        pipe = os.open(os.path.join(self.run, "keep"), os.O_RDONLY | os.O_NONBLOCK)
        thread = threading.Thread(target=self._wait, args=(pipe,), name="snapscope", daemon=True)
        thread.start()
        self.started = True
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, self._terminated)

    @guarded
    def _wait(self, pipe):
        poll = select.poll()
        poll.register(pipe, select.POLLIN | select.POLLHUP)
        begin, spent, per_event = time.monotonic(), 0.0, 0.0
        while not poll.poll(self.PAUSE * 1000):
            start, events = time.thread_time(), tried(0, self.events)
            # A snapshot takes as long as the history is, so its time is known before it is spent.
            if spent + per_event * events > self.SHARE * (time.monotonic() - begin):
                continue
            self.roll()
            took = time.thread_time() - start
            spent, per_event = spent + took, took / max(events, 1)
        self.stop(self._reason())

    def _reason(self):
        try:
            with open(os.path.join(self.run, "stop"), encoding="utf-8") as file:
                return file.read().strip()
        except OSError:
            return "abandoned"

    def _terminated(self, number, frame):
        tried(None, self.stop, "terminated")
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)
