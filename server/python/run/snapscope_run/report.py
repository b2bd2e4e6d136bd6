"""The facts that a process reports to the command: one JSON file, replaced as a whole."""

import json
import os
import sys
import threading
import time


class Report:
    """The facts of this process; a forked child starts its own file with the same facts."""

    def __init__(self, run):
        self.run = run
        self.facts = {}
        self.pid = None

    def write(self):
        """Replaces the file; a disk that is full must not end the script."""
        self._begin()
        name = f"process-{self.pid}-{self.started}.json"
        # Two threads may write at once.
        partial = os.path.join(self.run, f".{threading.get_ident()}-{name}")
        try:
            with open(partial, "w", encoding="utf-8") as file:
                json.dump(self.facts, file)
            os.replace(partial, os.path.join(self.run, name))
        except OSError as error:
            print(f"snapscope: the report of this process is not written: {error}", file=sys.stderr)

    def _begin(self):
        if self.pid == os.getpid():
            return
        self.pid = os.getpid()
        self.started = time.time_ns()
        self.facts.update(
            pid=self.pid,
            python=sys.version.split()[0],
            arguments=list(getattr(sys, "orig_argv", sys.argv)),
            rank=_number("RANK"),
            local_rank=_number("LOCAL_RANK"),
            world=_number("WORLD_SIZE"),
        )


def _number(name):
    """Returns a variable of torchrun as a number."""
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None
