"""Waits for PyTorch's watchdog of collectives, a thread that lets go of their tensors when it looks at them.

DistributedDataParallel replaces its buckets at the second forward, and the old ones are freed at the first collective
after the watchdog has let go of them. It looks ten times a second, which is often for a step of a real GPU and seldom
for one of a virtual GPU; a look after each of the first steps makes the same run give the same events.
"""

import os
import sys
import time

# Steps after which the buckets are those that stay.
FIRST_STEPS = 3
# Sleeps of the watchdog between which it has looked at everything, and the longest wait for them in seconds.
SLEEPS = 3
PATIENCE = 10.0
_TASKS = "/proc/self/task"


def settle(steps):
    """Waits until the watchdogs of this process have looked at all collectives, after each of the first steps."""
    if steps > FIRST_STEPS:
        return
    watchdogs = _watchdogs()
    if watchdogs:
        # It lets go of what the device has done.
        sys.modules["torch"].cuda.synchronize()
    wanted = {task: _sleeps(task) + SLEEPS for task in watchdogs}
    deadline = time.monotonic() + PATIENCE
    while any(_sleeps(task) < sleeps for task, sleeps in wanted.items()) and time.monotonic() < deadline:
        time.sleep(0.005)


def _watchdogs():
    return [task for task in os.listdir(_TASKS) if _read(task, "comm").startswith("pt_nccl_watch")]


def _sleeps(task):
    """Returns how often a thread has gone to sleep by itself; a thread that has ended sleeps for ever."""
    for line in _read(task, "status").splitlines():
        if line.startswith("voluntary_ctxt_switches:"):
            return int(line.split()[1])
    return float("inf")


def _read(task, name):
    try:
        with open(f"{_TASKS}/{task}/{name}", encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
