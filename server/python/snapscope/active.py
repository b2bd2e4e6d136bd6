"""The one recorder of this process, and PyTorch's hooks that lead to it."""

from __future__ import annotations

import os
import threading
from importlib import import_module

from .notices import guarded, warn
from .steps import Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .recorder import Recorder

_lock = threading.RLock()
_current: Recorder | None = None
_is_observing = False
_steps: Steps | None = None


def current() -> Recorder | None:
    """Returns the recorder of this process; a fork has none of its parent's."""
    recorder = _current
    return recorder if recorder is not None and recorder.pid in (None, os.getpid()) else None


@guarded
def start(folder: str | os.PathLike[str], given: Any) -> Recorder | None:
    """Starts a recorder; returns None if nothing is recorded."""
    from .options import of_keywords

    return begin(of_keywords(folder, given))


def begin(options: Any, is_asked_by_variable: bool = False) -> Recorder | None:
    """Starts a recorder with options that have been read."""
    global _current
    from .recorder import Recorder

    with _lock:
        if current() is not None:
            warn("second recording", "a recording is already going on, so this one does nothing")
            return None
        try:
            torch: Any = import_module("torch")
        except Exception as error:
            warn("torch", f"nothing is recorded, because PyTorch cannot be imported: {error!r}")
            return None
        recorder = Recorder(torch, options, is_asked_by_variable)
        if recorder.prepare():
            _current = recorder
            recorder.begin()
            return recorder
        return None


@guarded
def stop(recorder: Recorder | None = None, reason: str = "end") -> str | None:
    """Ends a recorder, or the current one."""
    global _current
    with _lock:
        found = current()
        if found is None or (recorder is not None and recorder is not found):
            return None
        _current = None
    return found.finish(reason)


@guarded
def step() -> None:
    recorder = current()
    if recorder is not None:
        recorder.step_by_hand()


@guarded
def dump(reason: str) -> str | None:
    recorder = current()
    return recorder.dump(reason) if recorder is not None else None


def count_steps() -> Steps:
    """Has the optimizers' steps counted from now on."""
    global _steps
    if _steps is None:
        _steps = Steps(_stepped)
    _steps.restart()
    return _steps


@guarded
def _stepped(count: int) -> None:
    recorder = current()
    if recorder is not None:
        recorder.stepped()


def observe_memory(torch: Any) -> None:
    """Has PyTorch call when memory runs out; it cannot be told to stop, so this is done once."""
    global _is_observing
    if not _is_observing:
        _is_observing = True
        torch._C._cuda_attach_out_of_memory_observer(_out_of_memory)


@guarded
def _out_of_memory(device: int, requested: int, total: int, free: int) -> None:
    recorder = current()
    if recorder is not None and recorder.options.out_of_memory:
        recorder.out_of_memory({"device": device, "requested": requested, "total": total, "free": free})


def _forked() -> None:
    global _current, _lock
    _lock = threading.RLock()
    recorder, _current = _current, None
    # What has not used CUDA yet can still record in the child.
    if recorder is not None and recorder.pid is None:
        recorder.forked()
        _current = recorder


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
