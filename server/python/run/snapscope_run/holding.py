"""Finds who holds memory that grows, while the variables are there, so that a finding can name them."""

import gc
import time

from .holders import holders

# Growth between two looks from which holders are searched for.
LEAST_BYTES = 1 << 20

# Most objects of Python among which holders are searched for, a few seconds each time.
MOST_OBJECTS = 2_000_000


class Holding:
    """Looks at allocated memory after 1, 4, 16, … steps and after the last one that the user asked for, or at the end.

    The same run has to give the same snapshot, so that no clock decides.
    """

    def __init__(self, allocated, torch, last):
        self.allocated = allocated
        self.torch = torch
        self.last = last
        self.next = 1
        self.bytes = None
        # Names of the latest search, and its time in microseconds, after which memory may have other holders.
        self.names = []
        self.time_us = 0

    def stepped(self, count):
        if count < self.next and count != self.last:
            return
        self.next = 4 * count
        before, self.bytes = self.bytes, self.allocated()
        if before is not None and self.bytes - before >= LEAST_BYTES:
            self._search()

    def ended(self):
        """Looks at the end of a program without steps, such as one that serves or evaluates."""
        if self.bytes is None and self.allocated() >= LEAST_BYTES:
            self._search()

    def _search(self):
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            if len(gc.get_objects()) <= MOST_OBJECTS:
                _, self.names = holders(self.torch)
        finally:
            if was_enabled:
                gc.enable()
        self.time_us = time.time_ns() // 1000
