"""Runs functions at the end of processes."""

from __future__ import annotations

import sys
from typing import Any, Callable


def at_end_of_child(end: Callable[[], Any]) -> None:
    """Runs a function at the end of a child of multiprocessing, which leaves without Python's own exit handlers."""
    util = sys.modules.get("multiprocessing.util")
    process = sys.modules.get("multiprocessing.process")
    if util and process and process.parent_process() is not None:
        util.Finalize(None, end, exitpriority=1000)
