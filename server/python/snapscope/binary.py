"""Finds the program `snapscope`, which the package asks for what it does not do itself."""

from __future__ import annotations

import os
import shutil
import sys


def binary() -> str | None:
    """Returns the binary: a named one, the one beside this package or this Python, or that of the PATH."""
    named = os.environ.get("SNAPSCOPE_PROGRAM")
    if named:
        return named
    # `pip install --target` makes a folder `bin` beside the packages.
    packages = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for folder in (os.path.join(packages, "bin"), os.path.dirname(sys.executable)):
        beside = os.path.join(folder, "snapscope")
        if os.path.exists(beside):
            return beside
    return shutil.which("snapscope")
