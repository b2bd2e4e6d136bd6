"""Marks steps and modules in the history: by PyTorch's own annotations, or by the same records made here."""

from __future__ import annotations

import collections
import threading
import time
from typing import Any

# Records that are kept where PyTorch has no annotations.
MOST_RECORDS = 100_000


class Marks:
    """Ranges with names."""

    def __init__(self, torch: Any, is_recorded: bool) -> None:
        self.record_function = torch.profiler.record_function if is_recorded else None
        self.own: collections.deque[dict[str, Any]] = collections.deque(maxlen=MOST_RECORDS)

    def begin(self, name: str) -> Any:
        """Begins a range; its end needs what this returns."""
        if self.record_function is None:
            return self._note("START", name)
        mark = self.record_function(name)
        mark.__enter__()
        return threading.get_ident(), mark

    def end(self, begun: Any) -> None:
        """Ends a range; one of another thread ends with its object."""
        if self.record_function is None:
            self._note("END", begun)
        elif begun[0] == threading.get_ident():
            begun[1].__exit__(None, None, None)

    def _note(self, stage: str, name: str) -> str:
        self.own.append({"stage": stage, "name": name, "device": 0, "time_us": time.time_ns() // 1000})
        return name

    def add_to(self, snapshot: dict[str, Any], unfinished: str | None) -> None:
        """Adds the ranges in the form of PyTorch's annotations where PyTorch has none; one is left out."""
        marks = snapshot.get("external_annotations", [])
        if self.own:
            marks = sorted([*marks, *self.own], key=lambda mark: int(mark["time_us"]))
        if unfinished is not None:
            marks = [mark for mark in marks if mark["name"] != unfinished]
        if marks:
            snapshot["external_annotations"] = marks
