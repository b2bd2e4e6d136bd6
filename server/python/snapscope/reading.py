"""Keeps PyTorch's compiler out of the reading of a snapshot."""

from __future__ import annotations

import threading
from typing import Any


class Reading:
    """Keeps PyTorch from importing its compiler for a snapshot, which asks `torch` for `_inductor`.

    That takes seconds, and in a thread it breaks an import of the program that goes on at the same time.
    PyTorch's own function is back afterwards, because it silences some of its warnings by the file that they are from.
    """

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.lock = threading.Lock()
        # The threads that read, and PyTorch's own function.
        self.readers: list[int] = []
        self.find: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.readers.append(threading.get_ident())
            if len(self.readers) == 1:
                self.find = self.torch.__dict__.get("__getattr__")
                if self.find is not None:
                    self.torch.__getattr__ = self._replacement(self.find)

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            self.readers.remove(threading.get_ident())
            if not self.readers and self.find is not None:
                self.torch.__getattr__ = self.find

    def _replacement(self, find: Any) -> Any:
        def find_unless_reading(name: str) -> Any:
            if name == "_inductor" and threading.get_ident() in self.readers:
                raise AttributeError(name)
            return find(name)

        return find_unless_reading
