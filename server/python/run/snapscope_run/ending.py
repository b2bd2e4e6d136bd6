"""Ends processes, alone or together with the other ranks of the run."""

import os
import sys
import time

from . import lines

# Seconds that a rank waits for the others, which may still need its store.
PATIENCE = 30.0


def last_exception():
    """Returns the exception that ends the script, or the child of multiprocessing that calls this at its end."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None) or sys.exc_info()[1]
    if error is None or isinstance(error, SystemExit):
        return None
    file, line, function = lines.of_traceback(error.__traceback__) or (None, None, None)
    message = str(error)[:4000]
    return {"type": type(error).__name__, "message": message, "file": file, "line": line, "function": function}


def leave_together(run, facts, is_alone):
    """Ends this process with status 0, and unless it is alone once all ranks on this machine have come as far."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    mark = os.path.join(run, f"left-{facts['rank']}-{os.getpid()}")
    try:
        os.close(os.open(mark, os.O_CREAT | os.O_WRONLY))
        if not is_alone:
            _wait_for_others(run, facts)
    except OSError:
        pass
    os._exit(0)


def _wait_for_others(run, facts):
    text = os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("WORLD_SIZE", "")
    ranks = int(text) if text.isdigit() and facts["rank"] is not None else 1
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        left = {name.split("-")[1] for name in os.listdir(run) if name.startswith("left-")}
        if len(left) >= ranks:
            return
        time.sleep(0.02)
