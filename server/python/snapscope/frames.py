"""Lists the local variables of all running functions."""

from __future__ import annotations

import inspect
import os
import sys
from typing import Any

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_STANDARD = os.path.dirname(os.__file__)


def locals_of_frames() -> tuple[dict[int, str], dict[int, str], set[int]]:
    """Returns the name of each object that a local variable refers to, in code of the program and in that of libraries,
    and the running frames themselves, by id."""
    own: dict[int, str] = {}
    of_libraries: dict[int, str] = {}
    running: set[int] = set()
    for frame in sys._current_frames().values():
        at: Any = frame
        while at is not None:
            running.add(id(at))
            code = at.f_code
            is_function = bool(code.co_flags & inspect.CO_OPTIMIZED)
            if is_function and not code.co_filename.startswith(_FOLDER):
                is_library = "-packages" in code.co_filename or code.co_filename.startswith(_STANDARD)
                _add(of_libraries if is_library else own, at)
            at = at.f_back
    # It can be the frame of this function, which would hold itself, and with it all that is listed here.
    del frame
    return own, of_libraries, running


def _add(found: dict[int, str], frame: Any) -> None:
    code = frame.f_code
    variables = frame.f_locals
    place = f"local of {code.co_name}, {os.path.basename(code.co_filename)}"
    for name, value in variables.items():
        # The outer function is the one that keeps it.
        found[id(value)] = f"{name} ({place})"
    if sys.version_info < (3, 13):
        # Before Python 3.13 this is a copy, which would hold the values as long as the function runs.
        variables.clear()
