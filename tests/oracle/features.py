"""Tries on the virtual GPU what users do with memory in PyTorch, each in a process of its own.

usage: features.py [NAME ...]

Prints a line for each feature; exit status 1 if one failed.
"""

import importlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from virtual import LIBRARIES, environment

if TYPE_CHECKING:
    from feature import Feature

TIMEOUT_S = 180
FILES = [
    "feature_corpus",
    "feature_memory",
    "feature_streams",
    "feature_devices",
    "feature_training",
    "feature_programs",
]


def main() -> int:
    """Runs the command."""
    if os.environ.get("LD_LIBRARY_PATH") != str(LIBRARIES):
        # PyTorch, which the features import, is only found to be whole with the virtual GPU's libraries.
        os.execve(sys.executable, [sys.executable, *sys.argv], environment("a100-80gb"))
    if sys.argv[1:2] == ["--run"]:
        file, name = sys.argv[2:]
        getattr(importlib.import_module(file), name)()
        return 0
    features = table()
    names = sys.argv[1:] or list(features)
    with ThreadPoolExecutor(max_workers=2) as pool:
        passed = list(pool.map(lambda name: try_feature(name, features[name]), names))
    print(f"{sum(passed)} of {len(passed)} features work")
    return 0 if all(passed) else 1


def table() -> dict[str, "Feature"]:
    """All features by name: importing a file puts what it has into the table."""
    for file in FILES:
        importlib.import_module(file)
    return importlib.import_module("feature").FEATURES


def try_feature(name: str, chosen: "Feature") -> bool:
    """Runs a feature in a new process, and prints how it went."""
    command = [sys.executable, str(Path(__file__)), "--run", chosen.run.__module__, name]
    start = time.monotonic()
    try:
        run = subprocess.run(
            command, env=environment(chosen.cards, **chosen.settings), capture_output=True, text=True, timeout=TIMEOUT_S
        )
        passed, log = run.returncode == 0, run.stderr
    except subprocess.TimeoutExpired as expired:
        passed, log = False, f"no end after {TIMEOUT_S} s\n{expired.stderr or ''}"
    seconds = time.monotonic() - start
    print(f"{'ok    ' if passed else 'FAILED'} {name} ({seconds:.1f} s)", flush=True)
    if not passed:
        print("\n".join(f"       {line}" for line in log.strip().splitlines()[-12:]), flush=True)
    return passed


if __name__ == "__main__":
    sys.exit(main())
