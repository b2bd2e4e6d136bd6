"""Finds the program `snapscope`, which the package asks for what it does not do itself."""

from __future__ import annotations

import os
import shutil
import sys


def binary() -> str | None:
    """Returns the binary: a named one, the one beside this Python, or that of the PATH."""
    named = os.environ.get("SNAPSCOPE_PROGRAM")
    if named:
        return named
    beside = os.path.join(os.path.dirname(sys.executable), "snapscope")
    return beside if os.path.exists(beside) else shutil.which("snapscope")
