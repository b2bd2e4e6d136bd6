"""Writes files so that a name either is not there or has everything."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import shutil
import threading
from typing import Any, Callable

from .notices import guarded, warn

_GZIP_LEVEL = 1


class Files:
    """The files of a recording: `STEM.pickle`, compressed a moment later, and `STEM.json`."""

    def __init__(self, folder: str, is_compressed: bool) -> None:
        self.folder = folder
        self.is_compressed = is_compressed
        self.threads: list[threading.Thread] = []
        # One file is compressed at a time.
        self.lock = threading.Lock()
        # Stems whose files have been removed.
        self.removed: set[str] = set()
        self.last: str | None = None

    def prepare(self) -> bool:
        """Makes the folder; returns False if it cannot be written."""
        try:
            os.makedirs(self.folder, exist_ok=True)
            if os.access(self.folder, os.W_OK | os.X_OK):
                return True
            reason = "it is read-only"
        except OSError as error:
            reason = error.strerror or str(error)
        warn("folder", f"nothing is recorded, because the folder {self.folder} cannot be written: {reason}")
        return False

    def snapshot(self, name: str, snapshot: Any) -> str | None:
        """Writes a snapshot; returns its path without `.pickle`, or None if there is no room.

        The name gets a number if it is taken.
        """
        path = self._publish(name, ".pickle", lambda file: pickle.dump(snapshot, file, protocol=4))
        if path is None:
            return None
        self.last = path
        return path[: -len(".pickle")]

    def sidecar(self, stem: str, facts: dict[str, Any]) -> None:
        text = json.dumps(facts, indent=1, default=str).encode() + b"\n"
        self._write(f"{stem}.json", lambda file: file.write(text))

    def finish(self, stem: str, is_last: bool) -> None:
        """Compresses a snapshot, in a thread unless it is the last one, and reports its name."""
        if not self.is_compressed:
            _report(f"{stem}.pickle")
        elif is_last:
            self._compress(stem)
        else:
            thread = threading.Thread(target=self._compress, args=(stem,), name="snapscope-gzip")
            try:
                thread.start()
            except RuntimeError:
                # The interpreter ends, or the machine has no more threads.
                self._compress(stem)
                return
            self.threads = [other for other in self.threads if other.is_alive()] + [thread]

    def wait(self) -> None:
        """Waits until everything is compressed."""
        for thread in self.threads:
            if thread is not threading.current_thread():
                thread.join()

    def remove(self, stem: str) -> None:
        self.removed.add(stem)
        for suffix in (".pickle", ".pickle.gz", ".json"):
            _remove(stem + suffix)

    @guarded
    def _compress(self, stem: str) -> None:
        with self.lock:
            raw = f"{stem}.pickle"
            packed = f"{raw}.gz"
            try:
                source = open(raw, "rb")
            except FileNotFoundError:
                # Later snapshots have replaced it.
                return
            with source:
                if not self._write(packed, lambda file: _pack(source, file)):
                    # The snapshot stays as it is.
                    _report(raw)
                    return
            _remove(raw)
            if stem in self.removed:
                _remove(packed)
                return
            if self.last == raw:
                self.last = packed
            _report(packed)

    def _publish(self, stem: str, suffix: str, write: Callable[[Any], Any]) -> str | None:
        """Writes a file under the first name that is not taken."""
        partial = self._partial(stem + suffix)
        if not self._fill(partial, write):
            return None
        for number in range(1, 10_000):
            path = os.path.join(self.folder, f"{stem}{number if number > 1 else ''}{suffix}")
            packed = f"{path}.gz"
            if os.path.exists(packed):
                continue
            try:
                os.link(partial, path)
                if os.path.exists(packed):
                    # Another process has packed its own file of this name meanwhile.
                    _remove(path)
                    continue
                _remove(partial)
                return path
            except FileExistsError:
                continue
            except OSError:
                # A file system without links.
                if not os.path.exists(path):
                    os.replace(partial, path)
                    return path
        _remove(partial)
        return None

    def _write(self, path: str, write: Callable[[Any], Any]) -> bool:
        """Replaces a file as a whole; returns False if there is no room."""
        partial = self._partial(os.path.basename(path))
        if not self._fill(partial, write):
            return False
        os.replace(partial, path)
        return True

    def _fill(self, partial: str, write: Callable[[Any], Any]) -> bool:
        try:
            # Not through a link that somebody else has put there.
            with open(partial, "xb") as file:
                write(file)
            return True
        except (OSError, MemoryError) as error:
            _remove(partial)
            reason = getattr(error, "strerror", None) or repr(error)
            warn("no room", f"a file could not be written to {self.folder}: {reason}; later ones are tried again")
            return False
        except BaseException:
            _remove(partial)
            raise

    def _partial(self, name: str) -> str:
        return os.path.join(self.folder, f".{name}.{os.getpid()}.{os.urandom(8).hex()}.partial")


def _pack(source: Any, file: Any) -> None:
    with gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0) as packed:
        shutil.copyfileobj(source, packed, 1 << 20)


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except OSError:
        pass


def _report(path: str) -> None:
    """Tells `snapscope record` about a file."""
    report = os.environ.get("SNAPSCOPE_RECORD_REPORT")
    if report:
        try:
            with open(report, "a", encoding="utf-8") as file:
                file.write(f"{path}\n")
        except OSError:
            pass
