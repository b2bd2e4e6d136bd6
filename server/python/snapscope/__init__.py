"""Records the GPU memory of a PyTorch program as snapshots that explain it.

    import snapscope

    with snapscope.record("snapshots"):
        train()

A failure of the recorder is a warning, and never an exception of the program.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import active, environment
from .notebook import show
from .notices import SnapscopeWarning
from .recording import Recording

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .options import Given

__all__ = ["Recording", "SnapscopeWarning", "dump", "record", "show", "start", "step", "stop"]


def record(folder: str | os.PathLike[str] = "snapshots", **options: Unpack[Given]) -> Recording:
    """Returns a recording, which is a context manager and a decorator; `snapscope.options.Given` has the options."""
    return Recording(folder, options)


def start(folder: str | os.PathLike[str] = "snapshots", **options: Unpack[Given]) -> None:
    """Starts to record; the end of the program or `stop()` writes the snapshot."""
    active.start(folder, options)


def stop() -> str | None:
    """Writes the snapshot and stops; returns the file of the last snapshot."""
    return active.stop()


def step() -> None:
    """Marks the end of a step; without it, the steps of the optimizer are counted."""
    active.step()


def dump(reason: str = "asked") -> str | None:
    """Writes a snapshot now and goes on; returns the file."""
    return active.dump(reason)


def __getattr__(name: str) -> Any:
    # The callbacks are for programs that have the other package.
    if name == "callbacks":
        from importlib import import_module

        return import_module(".callbacks", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


environment.begin()
