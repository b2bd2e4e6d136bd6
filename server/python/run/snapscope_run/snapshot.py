"""Writes snapshots of this process, each replacing the last as a whole."""

import gc
import os
import pickle
import threading
import time

from . import lines, naming
from .notices import failures, tried


class Writer:
    """The snapshot file of this process, whose name is claimed when it is first written."""

    def __init__(self, run, output, history, report, holding):
        self.run = run
        self.output = output
        self.history = history
        self.report = report
        self.holding = holding
        self.path = None
        self.lock = threading.RLock()
        self.is_writing = False
        self.seconds = 0.0
        # A fork in the middle of a snapshot would leave the child with a lock that nobody releases.
        os.register_at_fork(
            before=self.lock.acquire, after_in_parent=self.lock.release, after_in_child=self._after_fork
        )

    def _after_fork(self):
        self.lock = threading.RLock()
        self.path = None

    def write(self, reason):
        """Writes the snapshot; returns False if the disk is full or this call interrupted another."""
        with self.lock:
            # A signal can arrive in the middle of a snapshot.
            if self.is_writing:
                return False
            self.is_writing = True
            try:
                return self._write(reason)
            finally:
                self.is_writing = False

    def _write(self, reason):
        start = time.monotonic()
        # What the snapshot consists of must not move the moment at which the script's own garbage is collected.
        was_enabled = gc.isenabled()
        gc.disable()
        path = self.path or self._claim()
        name = f".{os.path.basename(path)}.{os.getpid()}.{os.urandom(8).hex()}.partial"
        partial = os.path.join(os.path.dirname(path), name)
        try:
            snapshot = _without_hook(self.history.read())
            tried(None, naming.add_to, snapshot, self.holding.names, self.holding.time_us)
            # Not through a link that somebody else has put there.
            with open(partial, "xb") as file:
                pickle.dump(snapshot, file, protocol=4)
            os.replace(partial, path)
        except (OSError, MemoryError) as error:
            failures.setdefault("the snapshot", str(error))
            if os.path.exists(partial):
                os.remove(partial)
            return False
        finally:
            snapshot = None
            if was_enabled:
                gc.enable()
        self.seconds = time.monotonic() - start
        self.report.facts.update(snapshot=path, reason=reason, snapshot_seconds=self.seconds)
        return True

    def _claim(self):
        """Returns the output file, with the rank if there are several, that no other process of the run writes."""
        stem, suffix = os.path.splitext(self.output)
        rank, world = os.environ.get("RANK", ""), os.environ.get("WORLD_SIZE", "")
        if rank.isdigit() and world.isdigit() and int(world) > 1:
            stem = f"{stem}.rank{rank}"
        for number in range(1, 10_000):
            path = f"{stem}{suffix}" if number == 1 else f"{stem}.{number}{suffix}"
            try:
                claim = os.path.join(self.run, f"claim-{os.path.basename(path)}")
                os.close(os.open(claim, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            except FileExistsError:
                continue
            self.path = path
            return path
        raise OSError("10,000 processes of this run have written snapshots")


def _without_hook(snapshot):
    """Removes the frames of the hook from all stacks."""
    bad, seen = set(), {}

    def clean(frames):
        # The list is kept, so that its address cannot become that of another.
        seen[id(frames)] = frames
        for frame in frames:
            if id(frame) not in seen:
                seen[id(frame)] = frame
                if frame["filename"].startswith(lines._HOOK):
                    bad.add(id(frame))
        if bad and not bad.isdisjoint(map(id, frames)):
            frames[:] = [frame for frame in frames if id(frame) not in bad]

    blocks = (segment["blocks"] for segment in snapshot["segments"])
    for records in (*snapshot["device_traces"], snapshot["segments"], *blocks):
        # There are millions of events and few stacks.
        for record in records:
            frames = record.get("frames")
            if frames and id(frames) not in seen:
                clean(frames)
    return snapshot
