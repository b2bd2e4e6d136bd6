"""Records the history of memory, and lets a script that records for itself see only what it asked for."""

import sys
import threading

from .notices import tried
from .reading import Reading


class History:
    """PyTorch has one history; the script's own recording is a view of the one that the command keeps."""

    def __init__(self, torch, most):
        self.torch = torch
        # Events of a device beyond this number push out the oldest, because each takes a kilobyte of host memory.
        self.most = most
        # Events that were pushed out, by device.
        self.lost = {}
        self.memory = torch.cuda.memory
        self.record = self.memory._record_memory_history
        self.snapshot = self.memory._snapshot
        # For each mark of a read in the history, true if the read was the hook's.
        self.marks = []
        self.lock = threading.RLock()
        # None until the script records, then the view of its latest recording.
        self.view = None

    def start(self):
        # Stacks of frees would double the cost of stacks, and make PyTorch lose exceptions of checkpoints that end early.
        self.record(enabled="all", context="alloc", stacks="python", max_entries=self.most)

    def install(self):
        self.reading = Reading(self.torch)
        self.memory._record_memory_history = self._script_records
        self.memory._snapshot = self._script_reads

    def length(self):
        """Returns the number of events in the histories of all devices."""
        devices = range(self.torch._C._cuda_getDeviceCount())
        return sum(min(_events_made(self.torch._C._cuda_memoryStats(device)), self.most) for device in devices)

    def read(self):
        """Returns the whole snapshot, without the marks that the hook's own reads leave in the history."""
        with self.reading, self.lock:
            return self._without_marks(self.snapshot(), True)

    def _count_lost(self, snapshot):
        """Counts the events that a snapshot lacks."""
        for device, trace in enumerate(snapshot["device_traces"]):
            if len(trace) >= self.most:
                made = _events_made(self.torch._C._cuda_memoryStats(device))
                self.lost[device] = max(made - len(trace), self.lost.get(device, 1))

    def _without_marks(self, snapshot, is_own):
        """Removes the hook's marks from a snapshot, and notes whose mark this read leaves.

        Reads of the hook happen at times that differ from run to run, and the same run has to give the same events.
        """
        self._count_lost(snapshot)
        for trace in snapshot["device_traces"]:
            marks = [index for index, entry in enumerate(trace) if entry["action"] == "snapshot"]
            owners = self.marks[max(0, len(self.marks) - len(marks)) :]
            for index, is_hooks in reversed(list(zip(marks, owners))):
                if is_hooks:
                    del trace[index]
        self.marks.append(is_own)
        return snapshot

    def _script_records(self, enabled="all", *args, **kwargs):
        if not tried(False, self._record_view, enabled, args, kwargs):
            self.record(enabled, *args, **kwargs)

    def _record_view(self, enabled, args, kwargs):
        """Lets the script see a recording of its own; returns true if it does."""
        wanted = _wanted(enabled, args, kwargs)
        if wanted is None:
            self.view = _View(None, 0)
            self.start()
            return True
        context, stacks, most = wanted
        self.record(enabled="all", context=context, stacks=stacks, max_entries=self.most)
        known = self.read()["device_traces"] if enabled != "state" else None
        self.view = _View(known and [len(trace) + self._lost(device) for device, trace in enumerate(known)], most)
        return True

    def _lost(self, device):
        return self.lost.get(device, 0)

    def _script_reads(self, *args, **kwargs):
        with self.lock:
            snapshot = self.snapshot(*args, **kwargs)
            return tried(snapshot, self._cut, snapshot)

    def _cut(self, snapshot):
        """Returns what the script's own recording has of a snapshot."""
        snapshot = self._without_marks(snapshot, False)
        return snapshot if self.view is None else self.view.cut(snapshot, self._lost)


class _View:
    """Part of the history: the last `most` events after the first `skipped` of each device, lost ones included."""

    def __init__(self, skipped, most):
        self.skipped = skipped
        self.most = most

    def cut(self, snapshot, lost):
        traces = snapshot["device_traces"]
        if self.skipped is None:
            cut = [[] for _ in traces]
        else:
            skipped = self.skipped + [0] * (len(traces) - len(self.skipped))
            cut = [trace[max(skip - lost(device), 0) :] for device, (trace, skip) in enumerate(zip(traces, skipped))]
        snapshot["device_traces"] = [trace[-self.most :] if self.most else [] for trace in cut]
        return snapshot


def _events_made(stats):
    """Returns the events of a device so far: a block has one at its begin and two at its end, a segment one at each."""
    blocks, segments = stats["allocation"]["all"], stats["segment"]["all"]
    return blocks["allocated"] + 2 * blocks["freed"] + segments["allocated"] + segments["freed"]


def _wanted(enabled, args, kwargs):
    """Returns (context, stacks, entries) of a script's call in either of PyTorch's forms; None if it stops."""
    if not enabled:
        return None
    if isinstance(enabled, bool):
        names = ("record_context", "trace_alloc_max_entries", "trace_alloc_record_context", "device", "record_context_cpp")
        given = {**dict(zip(names, args)), **kwargs}
        stacks = "all" if given.get("record_context_cpp") else "python"
        return "all", stacks, given.get("trace_alloc_max_entries", 1)
    given = {**dict(zip(("context", "stacks", "max_entries"), args)), **kwargs}
    context = given.get("context", "all") or "alloc"
    return context, given.get("stacks", "all"), given.get("max_entries", sys.maxsize)
