"""Finds who holds memory that grows, while the variables are there, so that a finding can name them."""

import gc
import time

from .holders import holders

# Growth between two looks from which holders are searched for.
LEAST_BYTES = 1 << 20

# Most of the time of the script that searches may take; one takes seconds in a large program.
MOST_SHARE = 0.1


class Holding:
    """Looks at allocated memory after 2, 4, 8, … steps and after the last one that the user asked for."""

    def __init__(self, allocated, torch, last):
        self.allocated = allocated
        self.torch = torch
        self.last = last
        self.next = 2
        self.bytes = None
        self.start = time.monotonic()
        self.seconds = 0.0
        # Names of the latest search, and its time in microseconds, after which memory may have other holders.
        self.names = []
        self.time_us = 0

    def stepped(self, count):
        if count < self.next and (count != self.last or self.bytes is None):
            return
        self.next = 2 * count
        before, self.bytes = self.bytes, self.allocated()
        begin = time.monotonic()
        is_affordable = self.seconds <= MOST_SHARE * (begin - self.start)
        if before is not None and self.bytes - before >= LEAST_BYTES and is_affordable:
            self._search()
            self.seconds += time.monotonic() - begin

    def _search(self):
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            _, self.names = holders(self.torch)
        finally:
            if was_enabled:
                gc.enable()
        self.time_us = time.time_ns() // 1000
