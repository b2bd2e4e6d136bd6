"""Keeps PyTorch's compiler out of the reading of a snapshot."""

from __future__ import annotations

import threading
from typing import Any


class Reading:
    """Keeps PyTorch from importing its compiler for a snapshot, which asks `torch` for `_inductor`.

    That takes seconds, and in a thread it breaks an import of the program that goes on at the same time.
    """

    def __init__(self, torch: Any) -> None:
        # The thread that reads a snapshot.
        self.reader: int | None = None
        find = torch.__dict__.get("__getattr__")
        if find is None:
            return

        def find_unless_reading(name: str) -> Any:
            if name == "_inductor" and self.reader == threading.get_ident():
                raise AttributeError(name)
            return find(name)

        torch.__getattr__ = find_unless_reading

    def __enter__(self) -> None:
        self.reader = threading.get_ident()

    def __exit__(self, *error: Any) -> None:
        self.reader = None
