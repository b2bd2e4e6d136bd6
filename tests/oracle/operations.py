"""Runs PyTorch's operations on the virtual GPU: those that go through CUDA's mathematical libraries.

usage: operations.py [GROUP ...]

Prints a table with a line for each operation; exit status 1 if one failed, or left a message in the virtual GPU's log.
Where arithmetic says how many bytes an operation takes at its peak, that is part of its check.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from virtual import LIBRARIES, environment

if str(LIBRARIES) not in os.environ.get("LD_LIBRARY_PATH", ""):
    # PyTorch itself does not load without the libraries, and the loader reads the variable once.
    os.execve(sys.executable, [sys.executable, *sys.argv], environment("a100-80gb"))

import operation_algebra
import operation_attention
import operation_networks
import operation_tools
from operation import GROUPS, Outcome, outcomes

TIMEOUT_S = 300

# Importing a file fills the table.
FILES = [operation_networks, operation_attention, operation_algebra, operation_tools]


def main() -> int:
    """Runs the command."""
    if sys.argv[1:2] == ["--run"]:
        GROUPS[sys.argv[2]].run()
        print(json.dumps([asdict(outcome) for outcome in outcomes]))
        sys.stdout.flush()
        # What the groups leave behind, such as process groups, is not worth waiting for.
        os._exit(0)
    failed = 0
    count = 0
    for name in sys.argv[1:] or list(GROUPS):
        start = time.monotonic()
        results = try_group(name)
        print(f"{name} ({GROUPS[name].cards}, {time.monotonic() - start:.1f} s)")
        for outcome in results:
            print(f"  {'FAILED' if outcome.error else 'ok    '} {outcome.name}")
            if outcome.error:
                print("\n".join(f"         {line}" for line in outcome.error.splitlines()))
        sys.stdout.flush()
        count += len(results)
        failed += sum(outcome.error is not None for outcome in results)
    print(f"{count - failed} of {count} operations work")
    return 1 if failed else 0


def try_group(name: str) -> list[Outcome]:
    """Runs a group in a new process; what the virtual GPU has to say is a failure of its own."""
    chosen = GROUPS[name]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        settings = {"SNAPSCOPE_VIRTUAL_GPU_LOG": str(log)} | chosen.settings
        command = [sys.executable, __file__, "--run", name]
        try:
            run = subprocess.run(
                command,
                env=environment(chosen.cards, **settings),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return [Outcome("the group", f"no end after {TIMEOUT_S} s")]
        messages = log.read_text() if log.exists() else ""
    try:
        results = [Outcome(**outcome) for outcome in json.loads(run.stdout.splitlines()[-1])]
    except (IndexError, ValueError):
        last = "\n".join(run.stderr.strip().splitlines()[-12:])
        results = [Outcome("the group", f"exit status {run.returncode}\n{last}")]
    return results + [Outcome("the log is empty", messages.strip() or None)]


if __name__ == "__main__":
    sys.exit(main())
