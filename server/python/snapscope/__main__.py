"""Runs the program `snapscope`, for `python -m snapscope`."""

from __future__ import annotations

import os
import sys

from .binary import binary

program = binary()
if program is None:
    sys.exit("error: the program snapscope is not installed beside this package; install its wheel")
os.execve(program, [program, *sys.argv[1:]], {**os.environ, "SNAPSCOPE_PYTHON": sys.executable})
