"""Keeps PyTorch's compiler out of the reading of a snapshot."""

from __future__ import annotations

import threading
from typing import Any

# The threads that read a snapshot.
_readers: set[int] = set()


class Reading:
    """Keeps PyTorch from importing its compiler for a snapshot, which asks `torch` for `_inductor`.

    That takes seconds, and in a thread it breaks an import of the program that goes on at the same time.
    """

    def __init__(self, torch: Any) -> None:
        find = torch.__dict__.get("__getattr__")
        if find is None or hasattr(find, "snapscope"):
            return

        def find_unless_reading(name: str) -> Any:
            if name == "_inductor" and threading.get_ident() in _readers:
                raise AttributeError(name)
            return find(name)

        find_unless_reading.snapscope = True  # type: ignore[attr-defined]
        torch.__getattr__ = find_unless_reading

    def __enter__(self) -> None:
        _readers.add(threading.get_ident())

    def __exit__(self, *error: Any) -> None:
        _readers.discard(threading.get_ident())
