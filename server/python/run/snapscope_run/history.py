"""Records the history of memory, and lets a script that records for itself see only what it asked for."""

import sys
import threading

from .reading import Reading

# Events beyond this number push out the oldest, because each takes about a kilobyte of host memory.
MOST_ENTRIES = 2_000_000


class History:
    """PyTorch has one history; the script's own recording is a view of the one that the command keeps."""

    def __init__(self, torch):
        self.torch = torch
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
        self.record(enabled="all", context="alloc", stacks="python", max_entries=MOST_ENTRIES)

    def install(self):
        self.reading = Reading(self.torch)
        self.memory._record_memory_history = self._script_records
        self.memory._snapshot = self._script_reads

    def read(self):
        """Returns the whole snapshot, without the marks that the hook's own reads leave in the history."""
        with self.reading, self.lock:
            return self._without_marks(self.snapshot(), True)

    def _without_marks(self, snapshot, is_own):
        """Removes the hook's marks from a snapshot, and notes whose mark this read leaves.

        Reads of the hook happen at times that differ from run to run, and the same run has to give the same events.
        """
        for trace in snapshot["device_traces"]:
            marks = [index for index, entry in enumerate(trace) if entry["action"] == "snapshot"]
            owners = self.marks[max(0, len(self.marks) - len(marks)) :]
            for index, is_hooks in reversed(list(zip(marks, owners))):
                if is_hooks:
                    del trace[index]
        self.marks.append(is_own)
        return snapshot

    def _script_records(self, enabled="all", *args, **kwargs):
        wanted = _wanted(enabled, args, kwargs)
        if wanted is None:
            self.view = _View(None, 0)
            self.start()
            return
        context, stacks, most = wanted
        self.record(enabled="all", context=context, stacks=stacks, max_entries=MOST_ENTRIES)
        known = self.read()["device_traces"] if enabled != "state" else None
        self.view = _View(known and [len(trace) for trace in known], most)

    def _script_reads(self, *args, **kwargs):
        with self.lock:
            snapshot = self._without_marks(self.snapshot(*args, **kwargs), False)
        return snapshot if self.view is None else self.view.cut(snapshot)


class _View:
    """Part of the history: the last `most` entries after the first `skipped` of each device."""

    def __init__(self, skipped, most):
        self.skipped = skipped
        self.most = most

    def cut(self, snapshot):
        traces = snapshot["device_traces"]
        skipped = self.skipped if self.skipped is not None else [len(trace) for trace in traces]
        skipped = skipped + [0] * (len(traces) - len(skipped))
        cut = [trace[skip:] for trace, skip in zip(traces, skipped)]
        snapshot["device_traces"] = [trace[-self.most :] if self.most else [] for trace in cut]
        return snapshot


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
