"""Tries on the virtual GPU what users do with memory in PyTorch, each in a process of its own.

usage: features.py [NAME ...]

Prints a line for each feature; exit status 1 if one failed.
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import feature_devices
import feature_memory
import feature_streams
import feature_training
from feature import FEATURES
from virtual import environment

TIMEOUT_S = 180

# Importing a file fills the table.
FILES = [feature_memory, feature_streams, feature_devices, feature_training]


def main() -> int:
    """Runs the command."""
    if sys.argv[1:2] == ["--run"]:
        FEATURES[sys.argv[2]].run()
        return 0
    names = sys.argv[1:] or list(FEATURES)
    with ThreadPoolExecutor(max_workers=2) as pool:
        passed = list(pool.map(try_feature, names))
    print(f"{sum(passed)} of {len(passed)} features work")
    return 0 if all(passed) else 1


def try_feature(name: str) -> bool:
    """Runs a feature in a new process, and prints how it went."""
    chosen = FEATURES[name]
    command = [sys.executable, str(Path(__file__)), "--run", name]
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
