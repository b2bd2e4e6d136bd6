"""Records the GPU memory of a PyTorch program as snapshots that explain it.

    import snapscope

    with snapscope.record("snapshots"):
        train()

A failure of the recorder is a warning, and never an exception of the program.

Invariant: CUDA is never initialized here, no object of the program lives longer, and a file has its final name only
once it is complete.
A recorder begins when CUDA is first used (`torch.cuda._lazy_call`), so that a process that forks before can still do
so; a fork has no recorder if its parent has used CUDA.
A snapshot is written as PyTorch writes it, and compressed in a thread.
"""

from __future__ import annotations

from . import active, environment
from .notices import SnapscopeWarning

# Not typing's, which would cost each start of a Python that SNAPSCOPE_RECORD is set for.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any

    from typing_extensions import Unpack

    from .notebook import Page
    from .options import Given
    from .recording import Recording

__all__ = ["Recording", "SnapscopeWarning", "dump", "record", "show", "start", "step", "stop"]


def record(folder: str | os.PathLike[str] = "snapshots", **options: Unpack[Given]) -> Recording:
    """Returns a recording, which is a context manager and a decorator; `snapscope.options.Given` has the options."""
    from .recording import Recording

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


def show(path: str | os.PathLike[str], height: int = 700) -> Page | None:
    """Returns the page of a snapshot, with its timeline and findings, for the last line of a cell."""
    from . import notebook

    return notebook.show(path, height)


def __getattr__(name: str) -> Any:
    from importlib import import_module

    # The callbacks are for programs that have the other package.
    if name == "callbacks":
        return import_module(".callbacks", __name__)
    if name == "Recording":
        return import_module(".recording", __name__).Recording
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


environment.begin()
